/** One argument word of a definition: `[NAME=]FETCH[:TYPE]`. */
import { type FaultCode, Refusal } from './fault.ts';
import { parseUnsigned } from './number.ts';
import { type Operand, parseOperand, positionDrift } from './operand.ts';
import {
  type BitField,
  DEFAULT_TYPE,
  findBitField,
  findType,
  STRING_TYPE,
  type ValueType,
} from './types.ts';

export interface FetchArg extends Operand {
  readonly name: string;
  /** FETCH[:TYPE] as written. */
  readonly expression: string;
  /** Where in its word the kernel points when the argument as a whole is wrong. */
  readonly at: number;
  readonly type: ValueType;
  readonly bitField: BitField | null;
  /** Elements of an array; 0 = a single value. */
  readonly count: number;
}

const MAX_NAME = 32;
const MAX_EXPRESSION = 63;
const MAX_ELEMENTS = 64n;

const RESERVED: ReadonlySet<string> = new Set([
  'common_type',
  'common_flags',
  'common_preempt_count',
  'common_pid',
  'common_tgid',
  '__probe_ip',
  '__probe_ret_ip',
  '__probe_func',
]);

/** Bytes of the argument in the fixed part of a record. */
export const argSize = (arg: FetchArg): number => arg.type.size * Math.max(arg.count, 1);

const nameOf = (text: string, length: number, word: number, used: ReadonlySet<string>): string => {
  const refuse = (code: FaultCode): never => {
    throw new Refusal(code, word, 0);
  };
  if (length > MAX_NAME) refuse('ARG_NAME_TOO_LONG');
  if (length === 0) refuse('NO_ARG_NAME');
  const name = length < 0 ? `arg${word - 1}` : text.slice(0, length);
  if (!/^[A-Za-z_]\w*$/.test(name)) refuse('BAD_ARG_NAME');
  if (RESERVED.has(name) || used.has(name)) refuse('USED_ARG_NAME');
  return name;
};

interface TypeText {
  /** Null = none given. */
  readonly name: string | null;
  readonly count: number;
}

/** Splits TYPE[N]; `at` = offset of the type text in its word. */
const splitType = (text: string, word: number, at: number): TypeText => {
  const open = text.indexOf('[');
  if (open < 0) return { name: text, count: 0 };
  const refuse = (code: FaultCode, offset: number): never => {
    throw new Refusal(code, word, at + offset);
  };
  const close = text.indexOf(']', open);
  if (close < 0) refuse('ARRAY_NO_CLOSE', text.length);
  if (close !== text.length - 1) refuse('BAD_ARRAY_SUFFIX', close + 1);
  const count = parseUnsigned(text.slice(open + 1, close));
  // kstrtouint: 32 bits.
  if (typeof count === 'string' || count === 0n || count >= 1n << 32n)
    return refuse('BAD_ARRAY_NUM', open + 1);
  if (count > MAX_ELEMENTS) refuse('ARRAY_TOO_BIG', open + 1);
  return { name: text.slice(0, open), count: Number(count) };
};

const onlyString = (fetch: string): boolean =>
  fetch === '$comm' || fetch === '$COMM' || fetch.startsWith('\\"');

const typeOf = (fetch: string, { name, count }: TypeText): ValueType | FaultCode => {
  if (!onlyString(fetch)) return (name === null ? DEFAULT_TYPE : findType(name)) ?? 'BAD_TYPE';
  return count > 0 || (name ?? 'string') !== 'string' ? 'NEED_STRING_TYPE' : STRING_TYPE;
};

/** Whether the value is an address at which a string can lie. */
const pointsAtString = ({ base, derefs }: Operand): boolean =>
  derefs.length > 0 || base.kind === 'immediate' || base.kind === 'comm' || base.kind === 'text';

/**
 * Parses argument word `word` of a definition. Throws a {@link Refusal}.
 * @param used names of the arguments before it.
 */
export const parseArgument = (
  text: string,
  word: number,
  returns: boolean,
  used: ReadonlySet<string>,
): FetchArg => {
  const equals = text.indexOf('=');
  const name = nameOf(text, equals, word, used);
  const offset = equals + 1;
  const expression = text.slice(offset);
  if (expression.length > MAX_EXPRESSION) throw new Refusal('ARG_TOO_LONG', word, offset, 'E2BIG');
  if (expression === '') throw new Refusal('NO_ARG_BODY', word, offset);

  const colon = expression.indexOf(':');
  const fetch = colon < 0 ? expression : expression.slice(0, colon);
  const typeAt = offset + colon + 1;
  const typeText =
    colon < 0 ? { name: null, count: 0 } : splitType(expression.slice(colon + 1), word, typeAt);
  const type = typeOf(fetch, typeText);
  if (typeof type === 'string') throw new Refusal(type, word, typeAt);

  const operand = parseOperand(fetch, { word, offset, returns });
  if (type.style === 'string' && !pointsAtString(operand))
    throw new Refusal('BAD_STRING', word, typeAt);
  const drift = positionDrift(fetch);
  const bitField = findBitField(typeText.name ?? '', type);
  if (bitField === undefined) throw new Refusal('BAD_BITFIELD', word, typeAt + drift);
  if (typeText.count > 0 && type.style !== 'string' && operand.derefs.length === 0)
    throw new Refusal('BAD_STRING', word, typeAt);
  return {
    name,
    expression,
    at: offset + drift,
    type,
    bitField,
    count: typeText.count,
    ...operand,
  };
};
