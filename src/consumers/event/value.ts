/** From the argument buffer to values and to the kernel's words for them. */

import { bytesText } from '../../base/byte-text.ts';
import type { FetchArg } from './argument.ts';
import type { ArgBuffer } from './buffer.ts';
import { getUnsigned } from './ints.ts';
import type { ArgLayout } from './layout.ts';
import type { ArgValue, RecordArg } from './record.ts';

const numberAt = ({ type, bitField }: FetchArg, buffer: ArgBuffer, at: number): ArgValue => {
  const raw = getUnsigned(buffer.view, at, type.size);
  if (bitField !== null) {
    const value = BigInt.asUintN(bitField.width, raw >> BigInt(bitField.offset));
    return { kind: 'number', value, hex: false };
  }
  const value = type.style === 'signed' ? BigInt.asIntN(type.size * 8, raw) : raw;
  return { kind: 'number', value, hex: type.style === 'hex' };
};

const elementAt = (arg: FetchArg, buffer: ArgBuffer, at: number): ArgValue => {
  if (arg.type.style === 'char') return { kind: 'char', value: buffer.bytes[at]! };
  if (arg.type.style !== 'string') return numberAt(arg, buffer, at);
  const bytes = buffer.stringAt(at);
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

/** The arguments of the record that was built last. */
export const recordArgs = (layout: ArgLayout, buffer: ArgBuffer): RecordArg[] =>
  layout.slots.map(({ arg, at }) => {
    const value: ArgValue =
      arg.count === 0
        ? elementAt(arg, buffer, at)
        : {
            kind: 'array',
            values: Array.from({ length: arg.count }, (_, i) =>
              elementAt(arg, buffer, at + i * arg.type.size),
            ),
          };
    return { name: arg.name, value, text: valueText(value) };
  });
