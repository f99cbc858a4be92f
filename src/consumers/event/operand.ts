/**
 * The expression of a fetch argument: where a value starts and what is dereferenced on the way.
 * Grammar and error positions as recorded from Linux 6.18.44 (test/goldens/tracefs-definitions.txt).
 */
import { PtRegs, type PtRegsName } from '../../abi/ptregs.ts';
import { type FaultCode, Refusal } from './fault.ts';
import { parseSigned, parseUnsigned } from './number.ts';

/** Where evaluation starts. */
export type Base =
  | { readonly kind: 'register'; readonly name: PtRegsName }
  /** 8-byte word `index` of the stack; 0 when unreadable. */
  | { readonly kind: 'stack'; readonly index: bigint }
  | { readonly kind: 'comm' }
  | { readonly kind: 'immediate'; readonly value: bigint }
  /** `\"…"`: accepted, but the kernel looks for its own copy in user memory: always a fault. */
  | { readonly kind: 'text' }
  /** Address where byte `offset` of the probed file is mapped. */
  | { readonly kind: 'file-offset'; readonly offset: bigint };

export interface Operand {
  readonly base: Base;
  /** Innermost first: add the offset, read 8 bytes there. The last read is the typed one. */
  readonly derefs: readonly bigint[];
}

/** Where in the definition the text stands, and what the probe allows. */
export interface Place {
  readonly word: number;
  /** Offset of the text inside the word, as the kernel counts it. */
  readonly offset: number;
  readonly returns: boolean;
}

/** Instructions of a fetch program that hold the operand (FETCH_INSN_MAX less the store). */
const MAX_OPS = 15;

const refuse = (code: FaultCode, { word, offset }: Place, more = 0): never => {
  throw new Refusal(code, word, offset + more);
};

/** A number or the refusal that its errno goes with. */
const number = (value: bigint | 'EINVAL' | 'ERANGE', code: FaultCode, at: Place): bigint => {
  if (typeof value === 'string') throw new Refusal(code, at.word, at.offset, value);
  return value;
};

const variable = (name: string, at: Place): Base => {
  if (name.startsWith('retval'))
    return at.returns ? { kind: 'register', name: 'ax' } : refuse('RETVAL_ON_PROBE', at);
  if (name === 'stack') return { kind: 'register', name: 'sp' };
  if (name === 'comm' || name === 'COMM') return { kind: 'comm' };
  const [, what, digits = ''] = /^(stack|arg)(\d.*)$/.exec(name) ?? [];
  const index = parseUnsigned(digits, 10);
  if (what === undefined || typeof index === 'string') return refuse('BAD_VAR', at);
  if (what === 'stack') return { kind: 'stack', index };
  // Only kprobes know the arguments of a function.
  return refuse(index === 0n ? 'BAD_ARG_NUM' : 'NOFENTRY_ARGS', at);
};

const register = (name: string, at: Place): Base =>
  Object.hasOwn(PtRegs, name)
    ? { kind: 'register', name: name as PtRegsName }
    : refuse('BAD_REG_NAME', at);

const memory = (text: string, at: Place): Operand => {
  if (text.startsWith('+')) {
    const offset = number(parseSigned(text.slice(1)), 'BAD_FILE_OFFS', at);
    return { base: { kind: 'file-offset', offset }, derefs: [0n] };
  }
  if (!/^\d/.test(text)) return refuse('SYM_ON_UPROBE', at);
  const value = number(parseUnsigned(text), 'BAD_MEM_ADDR', at);
  return { base: { kind: 'immediate', value }, derefs: [0n] };
};

const immediate = (text: string, at: Place): Base => {
  if (text.startsWith('"'))
    return text.length > 1 && text.endsWith('"')
      ? { kind: 'text' }
      : refuse('IMMSTR_NO_CLOSE', at, 1 + text.length);
  const inner = { ...at, offset: at.offset + 1 };
  const [sign = ''] = text;
  if (!/[\d+-]/.test(sign)) return refuse('BAD_IMM', inner);
  const value = /\d/.test(sign)
    ? parseUnsigned(text)
    : parseSigned(sign === '+' ? text.slice(1) : text);
  return { kind: 'immediate', value: BigInt.asUintN(64, number(value, 'BAD_IMM', inner)) };
};

/** `+OFF(FETCH)` and `-OFF(FETCH)`; a `u` after the sign means nothing to a uprobe. */
const dereference = (text: string, at: Place): Operand => {
  const user = text[1] === 'u';
  const signed = user ? text[0] + text.slice(2) : text;
  const open = signed.indexOf('(');
  if (open < 0) return refuse('DEREF_NEED_BRACE', at);
  const skipped = signed.startsWith('+') ? 1 : 0;
  const offset = number(parseSigned(signed.slice(skipped, open)), 'BAD_DEREF_OFFS', at);
  // The kernel does not count the `u`: positions inside are one too low.
  const inner = { ...at, offset: at.offset + open + 1 };
  const rest = signed.slice(open + 1);
  const close = rest.lastIndexOf(')');
  if (close < 0) return refuse('DEREF_OPEN_BRACE', inner, rest.length);
  const { base, derefs } = parseOperand(rest.slice(0, close), inner);
  if (base.kind === 'comm' || base.kind === 'text') return refuse('COMM_CANT_DEREF', inner);
  if (1 + derefs.length >= MAX_OPS) return refuse('TOO_MANY_OPS', inner);
  return { base, derefs: [...derefs, offset] };
};

const single = (base: Base): Operand => ({ base, derefs: [] });

/**
 * How far the kernel's position has moved after an operand: behind the outermost brace. Later
 * complaints about the argument carry it along.
 */
export const positionDrift = (text: string): number =>
  /^[+-]/.test(text) ? text.indexOf('(') + 1 - (text[1] === 'u' ? 1 : 0) : 0;

/** Parses FETCH without its type. Throws a {@link Refusal}. */
export const parseOperand = (text: string, at: Place): Operand => {
  switch (text[0]) {
    case '$':
      return single(variable(text.slice(1), at));
    case '%':
      return single(register(text.slice(1), at));
    case '@':
      return memory(text.slice(1), at);
    case '+':
    case '-':
      return dereference(text, at);
    case '\\':
      return single(immediate(text.slice(1), at));
  }
  if (text.startsWith('(')) throw new Refusal('NOSUP_BTFARG', at.word, at.offset, 'EOPNOTSUPP');
  return refuse(/^[A-Za-z_]/.test(text) ? 'NOSUP_BTFARG' : 'BAD_FETCH_ARG', at);
};
