import type { Form } from '../../../x86/forms.ts';
import type { Row, Rows } from '../emit/insn.ts';
import { ARITHMETIC } from './arithmetic.ts';
import { BIT } from './bit.ts';
import { EXCHANGE } from './exchange.ts';
import { FLOAT } from './float.ts';
import { FLOW } from './flow.ts';
import { MOVE } from './move.ts';
import { MULTIPLY } from './multiply.ts';
import { SHIFT } from './shift.ts';
import { STACK } from './stack.ts';
import { STRING } from './string.ts';
import { SYSTEM } from './system.ts';
import { VECTOR_INTEGER } from './vector-integer.ts';
import { VECTOR_MOVE } from './vector-move.ts';
import { VECTOR_SHUFFLE } from './vector-shuffle.ts';
import { X87_ROWS } from './x87.ts';

const FAMILIES: readonly Rows[] = [
  ARITHMETIC,
  BIT,
  EXCHANGE,
  FLOAT,
  FLOW,
  MOVE,
  MULTIPLY,
  SHIFT,
  STACK,
  STRING,
  SYSTEM,
  VECTOR_INTEGER,
  VECTOR_MOVE,
  VECTOR_SHUFFLE,
  X87_ROWS,
];

const all = new Map<string, Row>();
for (const family of FAMILIES)
  for (const [name, row] of Object.entries(family)) {
    if (all.has(name)) throw new Error(`two rows for ${name}`);
    all.set(name, row);
  }

/** Forms whose mnemonic has a row that does not cover them: far transfers, loads of segment registers. */
const UNCOVERED =
  /_m16(16|32|64)$|^Pop[wq]_|^Mov_(Sreg|r64_[cd]r|[cd]r_)|_rel(16|8_16)(_|$)|^(Call|Jmp)_rm16|^Retnw/;

/** The row of a form; undefined where the engine lacks the instruction. */
export const rowOf = (form: Form): Row | undefined =>
  UNCOVERED.test(form.name) ? undefined : (all.get(form.name) ?? all.get(form.mnemonic));
