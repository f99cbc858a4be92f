/** The fields of a record, as `format` describes them and filters compare them. */
import type { FetchArg } from './argument.ts';
import { argSize } from './argument.ts';
import type { ProbeEvent } from './event.ts';

/** One field of a record. */
export interface Field {
  readonly name: string;
  /** The C type as `format` names it, without the name. */
  readonly type: string;
  /** After the name: `[]` of an array of numbers. */
  readonly suffix: string;
  readonly offset: number;
  readonly size: number;
  readonly signed: boolean;
  /** A location word (or several) that leads to text. */
  readonly text: boolean;
}

const number = (
  name: string,
  type: string,
  offset: number,
  size: number,
  signed = false,
): Field => ({ name, type, suffix: '', offset, size, signed, text: false });

/** Those every record begins with. */
export const COMMON_FIELDS: readonly Field[] = [
  number('common_type', 'unsigned short', 0, 2),
  number('common_flags', 'unsigned char', 2, 1),
  number('common_preempt_count', 'unsigned char', 3, 1),
  number('common_pid', 'int', 4, 4, true),
];

const ADDRESSES: Readonly<Record<ProbeEvent['kind'], readonly Field[]>> = {
  entry: [number('__probe_ip', 'unsigned long', 8, 8)],
  return: [
    number('__probe_func', 'unsigned long', 8, 8),
    number('__probe_ret_ip', 'unsigned long', 16, 8),
  ],
};

/** A number's type by sign and size: `x` and `char` are unsigned ones. */
const plainType = ({ type }: FetchArg): string =>
  `${type.style === 'signed' ? 's' : 'u'}${type.size * 8}`;

const argField = (arg: FetchArg, offset: number): Field => {
  const text = arg.type.style === 'string';
  const array = arg.count > 0;
  return {
    name: arg.name,
    type: text ? `__data_loc char[]${array ? `[${arg.count}]` : ''}` : plainType(arg),
    suffix: array && !text ? '[]' : '',
    offset,
    size: argSize(arg),
    signed: text || arg.type.style === 'signed',
    text,
  };
};

/** Addresses and arguments of an event's records, without the common fields. */
export const fieldsOf = (event: ProbeEvent): readonly Field[] => [
  ...ADDRESSES[event.kind],
  ...event.probes[0]!.layout.slots.map(({ arg, at }) => argField(arg, at)),
];
