/** x87: operands to and from the routines of `float/`, which do the rest exactly. */

import type { Insn, Row, Rows } from '../emit/insn.ts';
import { STATE } from '../layout.ts';
import { extendU, I32, i32, load } from '../wasm/expr.ts';
import { Status } from '../x87/fpu.ts';
import type { X87Instruction } from '../x87/instruction.ts';
import { X87 } from '../x87/instructions.ts';
import { X87_BLOCKS } from '../x87/routines.ts';

/** An exception that was left pending is reported by the next instruction that waits. */
const wait = (e: Insn): void =>
  e.body.if(I32.and(load.u16(i32(0), STATE.fsw), i32(Status.errorSummary)), () =>
    e.trap('FpuError'),
  );

/** Number of the ST(i) operand. */
const passRegister = (e: Insn): void => {
  const operand = e.name.split('_').slice(1).indexOf('sti');
  if (operand >= 0) e.body.storeAt(32, STATE.vectorY, e.slot(operand));
};

const passMemory = (e: Insn): void => {
  const bits = e.vectorBits(0);
  if (bits === 64) e.scratch(e.load(e.linear(), 64));
  else if (bits === 32 || bits === 16) e.scratch(extendU(e.load(e.linear(), bits)));
  else {
    const at = e.readable(e.linear(), bits / 8);
    e.body.storeAt(64, STATE.vectorX, load.i64(at));
    e.body.storeAt(32, STATE.vectorX + 8, load.u16(at, 8));
  }
};

const rowOf =
  ({ memory, noWait }: X87Instruction, routine: string): Row =>
  (e) => {
    if (!noWait) wait(e);
    passRegister(e);
    if (memory === 'in') passMemory(e);
    const out = memory === 'out' ? e.writable(e.linear(), e.vectorBits(0) / 8) : undefined;
    if (out !== undefined) e.scratch(extendU(out.at));
    e.host(routine);
    out?.done();
  };

/** The environment or the whole state; the routine works on it in place. */
const blockRow =
  (routine: string, bytes: number): Row =>
  (e) => {
    const stores = routine.startsWith('Fn');
    if (!stores) wait(e);
    if (stores) {
      const { at, done } = e.writable(e.linear(), bytes);
      e.scratch(extendU(at));
      e.host(routine);
      done();
    } else {
      e.scratch(extendU(e.readable(e.linear(), bytes)));
      e.host(routine);
    }
  };

const storeStatus: Row = (e) => e.write(0, load.u16(i32(0), STATE.fsw));

const rows: Record<string, Row> = { Fnstsw_AX: storeStatus };
for (const [name, entry] of Object.entries(X87)) rows[name] = rowOf(entry, name);
for (const [name, bytes] of X87_BLOCKS) rows[name] = blockRow(name, bytes);
// A WAIT before it is an instruction of its own; iced-x86 has names for the pairs.
for (const [name, row] of Object.entries(rows))
  if (/^Fn(init|clex|stcw|stsw|stenv|save|eni|disi|setpm)/i.test(name))
    rows[`F${name.slice(2)}`] = row;

export const X87_ROWS: Rows = rows;
