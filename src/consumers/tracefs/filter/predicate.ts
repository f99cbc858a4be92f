/** One term of a filter: `FIELD OP VALUE`. */
import { bytesLatin1, textBytes } from '../../../base/byte-text.ts';
import type { EventRecord } from '../../event/event-record.ts';
import type { Field } from '../../event/fields.ts';
import { getUnsigned } from '../../event/ints.ts';
import { parseSigned, parseUnsigned } from '../../event/number.ts';
import { FilterFault, type FilterFaultCode } from './fault.ts';
import { matchesPattern, sameText, type TextTest } from './pattern.ts';

export type Predicate = (record: EventRecord) => boolean;

/** A field by what may be done with it. */
export type FilterField =
  | { readonly kind: 'number'; readonly field: Field }
  | { readonly kind: 'text'; readonly field: Field }
  | { readonly kind: 'cpu' | 'comm' | 'stack' };

/** A term, and where in the filter it ends. */
export interface Term {
  readonly predicate: Predicate;
  readonly end: number;
}

/** Longer ones first, as `<=` begins with `<`. */
const OPERATORS = ['==', '!=', '~', '<=', '<', '>=', '>', '&'] as const;
type Operator = (typeof OPERATORS)[number];

const COMPARE: Readonly<Record<Operator, ((a: bigint, b: bigint) => boolean) | null>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<=': (a, b) => a <= b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '>': (a, b) => a > b,
  '&': (a, b) => (a & b) !== 0n,
  '~': null,
};

/** MAX_FILTER_STR_VAL. */
const MAX_TEXT = 256;
/** Characters of a number, its sign included. */
const MAX_NUMBER = 24;
/** A task's name is always taken to be this long. */
const TASK_COMM_LEN = 16;
/** The one CPU there is. */
const CPU = 0n;

/** Bytes are compared, whatever they mean. */
const latin1 = (text: string): string => bytesLatin1(textBytes(text));

const NEVER: Predicate = () => false;
const ALWAYS: Predicate = () => true;

/** A number is compared in the width of its field; arrays of odd sizes never match. */
const numberPredicate = (
  { offset, size, signed }: Field,
  op: Operator,
  value: bigint,
): Predicate => {
  const compare = COMPARE[op]!;
  if (![1, 2, 4, 8].includes(size)) return NEVER;
  const bits = size * 8;
  const wrap = signed ? BigInt.asIntN : BigInt.asUintN;
  const wanted = wrap(bits, value);
  return ({ view }) => compare(wrap(bits, getUnsigned(view, offset, size)), wanted);
};

const cpuPredicate = (op: Operator, value: bigint): Predicate => {
  const wanted = BigInt.asIntN(32, value);
  // There is no `&` of a CPU number.
  return op === '&' || !COMPARE[op]!(CPU, wanted) ? NEVER : ALWAYS;
};

/** The text a location word leads to. What could not be read has no length, and reads as empty. */
const textPredicate =
  ({ offset }: Field, test: TextTest): Predicate =>
  ({ bytes, view }) => {
    const word = view.getUint32(offset, true);
    const size = word >>> 16;
    const start = word & 0xffff;
    const end = size === 0 ? start : bytes.indexOf(0, start);
    return test(bytesLatin1(bytes.subarray(start, end)), size);
  };

const commPredicate =
  (test: TextTest): Predicate =>
  ({ hit }) =>
    test(latin1(hit.task.comm), TASK_COMM_LEN);

/** Reads one term; positions are the kernel's, one more than the character's. */
class TermReader {
  readonly #text: string;
  readonly #find: (name: string) => FilterField | undefined;
  #at: number;

  constructor(text: string, at: number, find: (name: string) => FilterField | undefined) {
    this.#text = text;
    this.#find = find;
    this.#at = at;
  }

  read(): Term {
    const name = this.#take(/[A-Za-z0-9_]*/y);
    // Nothing the kernel has a word for.
    if (name === '') throw new FilterFault(null, 0, 'EPERM');
    const field = this.#find(name) ?? this.#refuse('FIELD_NOT_FOUND');
    const suffix = this.#take(/\.ustring|\.function/y);
    this.#skipBlanks();
    const op = OPERATORS.find((one) => this.#text.startsWith(one, this.#at));
    if (op === undefined) return this.#refuse('INVALID_OP');
    this.#at += op.length;
    this.#skipBlanks();
    if (suffix === '.function') return this.#function(field, op);
    const predicate = this.#value(field, op);
    return { predicate, end: this.#at };
  }

  #value(field: FilterField, op: Operator): Predicate {
    if (this.#text.startsWith('CPUS', this.#at)) return this.#cpus(field, op);
    const char = this.#text[this.#at] ?? '';
    if (char === '"' || char === "'") return this.#quoted(field, op, char);
    if (/[\d-]/.test(char)) return this.#number(field, op);
    return this.#refuse('INVALID_VALUE');
  }

  #quoted(field: FilterField, op: Operator, quote: string): Predicate {
    if (op !== '==' && op !== '!=' && op !== '~') return this.#refuse('ILLEGAL_FIELD_OP');
    if (field.kind !== 'text' && field.kind !== 'comm') return this.#refuse('EXPECT_DIGIT');
    const end = this.#text.indexOf(quote, this.#at + 1);
    const value = latin1(this.#text.slice(this.#at + 1, end));
    this.#at = end;
    if (value.length >= MAX_TEXT) return this.#refuse('OPERAND_TOO_LONG');
    this.#at++;
    const test = op === '~' ? matchesPattern(value) : sameText(value);
    const predicate =
      field.kind === 'text' ? textPredicate(field.field, test) : commPredicate(test);
    return op === '!=' ? (record) => !predicate(record) : predicate;
  }

  #number(field: FilterField, op: Operator): Predicate {
    if (field.kind === 'text' || field.kind === 'comm') return this.#refuse('EXPECT_STRING');
    if (op === '~') return this.#refuse('ILLEGAL_FIELD_OP');
    const start = this.#at;
    const digits = this.#take(/-?[A-Za-z0-9]*/y);
    if (digits.length >= MAX_NUMBER) return this.#refuse('OPERAND_TOO_LONG');
    const signed = field.kind === 'number' ? field.field.signed : field.kind === 'cpu';
    const value = signed ? parseSigned(digits) : parseUnsigned(digits);
    if (typeof value === 'string') return this.#refuse('ILLEGAL_INTVAL', start);
    if (field.kind === 'stack') return NEVER;
    return field.kind === 'number'
      ? numberPredicate(field.field, op, value)
      : cpuPredicate(op, value);
  }

  /** `CPUS{0-3,5}`: a field that holds a CPU number, against a set of them. */
  #cpus(field: FilterField, op: Operator): Predicate {
    if (field.kind !== 'number' && field.kind !== 'cpu') return this.#refuse('ILLEGAL_FIELD_OP');
    if (op !== '==' && op !== '!=' && op !== '&') return this.#refuse('ILLEGAL_FIELD_OP');
    this.#at += 4;
    if (this.#text[this.#at++] !== '{') return this.#refuse('MISSING_BRACE_OPEN');
    const list = this.#take(/[^}]*/y);
    if (this.#at >= this.#text.length) return this.#refuse('MISSING_BRACE_CLOSE');
    if (!/^0(-0)?(,0(-0)?)*$/.test(list)) return this.#refuse('INVALID_CPULIST');
    this.#at++;
    const wanted = op === '!=' ? '!=' : '==';
    return field.kind === 'number'
      ? numberPredicate(field.field, wanted, 0n)
      : cpuPredicate(wanted, 0n);
  }

  /** Functions of the kernel: there are none here. */
  #function(field: FilterField, op: Operator): never {
    if (field.kind !== 'number' || field.field.size !== 8) this.#refuse('ILLEGAL_FIELD_OP');
    if (op !== '==' && op !== '!=') this.#refuse('INVALID_OP');
    const name = this.#take(/\d[A-Za-z0-9]*|\S*/y);
    const isNumber = /^\d/.test(name);
    if (isNumber && name.length >= MAX_NUMBER) this.#refuse('OPERAND_TOO_LONG');
    if (isNumber && typeof parseUnsigned(name) === 'string') this.#refuse('INVALID_VALUE');
    return this.#refuse('NO_FUNCTION');
  }

  #take(what: RegExp): string {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #skipBlanks(): void {
    this.#take(/\s*/y);
  }

  #refuse(code: FilterFaultCode, at = this.#at): never {
    throw new FilterFault(code, at + 1);
  }
}

/**
 * The term at `at` of a filter. Throws a {@link FilterFault}.
 * Preconditions: quotes end ({@link checkBrackets}).
 */
export const readTerm = (
  text: string,
  at: number,
  find: (name: string) => FilterField | undefined,
): Term => new TermReader(text, at, find).read();
