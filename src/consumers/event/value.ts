/** From the bytes of a record to values and to the kernel's words for them. */

import { bytesText } from '../../base/byte-text.ts';
import type { FetchArg } from './argument.ts';
import { getUnsigned } from './ints.ts';
import type { ArgLayout } from './layout.ts';
import type { ArgValue, RecordArg } from './record.ts';

/** A record, wherever it is kept. */
export interface RecordBytes {
  readonly bytes: Uint8Array;
  /** Of the same bytes. */
  readonly view: DataView;
}

/** Bytes of the string whose location word is at `at`, up to its NUL; null = fault. */
const stringAt = ({ bytes, view }: RecordBytes, at: number): Uint8Array | null => {
  const word = view.getUint32(at, true);
  if (word >>> 16 === 0) return null;
  const start = word & 0xffff;
  return bytes.subarray(start, bytes.indexOf(0, start));
};

const numberAt = ({ type }: FetchArg, record: RecordBytes, at: number): ArgValue => {
  const raw = getUnsigned(record.view, at, type.size);
  const value = type.style === 'signed' ? BigInt.asIntN(type.size * 8, raw) : raw;
  return { kind: 'number', value, hex: type.style === 'hex' };
};

const elementAt = (arg: FetchArg, record: RecordBytes, at: number): ArgValue => {
  if (arg.type.style === 'char') return { kind: 'char', value: record.bytes[at]! };
  if (arg.type.style !== 'string') return numberAt(arg, record, at);
  const bytes = stringAt(record, at);
  return { kind: 'string', value: bytes === null ? null : bytesText(bytes) };
};

/** A value as the kernel prints it. */
export const valueText = (value: ArgValue): string => {
  switch (value.kind) {
    case 'number':
      return value.hex ? `0x${value.value.toString(16)}` : value.value.toString();
    case 'char':
      return `'${bytesText(Uint8Array.of(value.value))}'`;
    case 'string':
      return value.value === null ? '(fault)' : `"${value.value}"`;
    case 'array':
      return `{${value.values.map(valueText).join(',')}}`;
  }
};

/** The arguments of a record. */
export const recordArgs = (layout: ArgLayout, record: RecordBytes): RecordArg[] =>
  layout.slots.map(({ arg, at }) => {
    const value: ArgValue =
      arg.count === 0
        ? elementAt(arg, record, at)
        : {
            kind: 'array',
            values: Array.from({ length: arg.count }, (_, i) =>
              elementAt(arg, record, at + i * arg.type.size),
            ),
          };
    return { name: arg.name, value, text: valueText(value) };
  });
