/** `events/GRP/EVENT/format`. */
import type { FetchArg } from '../event/argument.ts';
import type { ProbeEvent } from '../event/event.ts';
import { COMMON_FIELDS, type Field, fieldsOf } from '../event/fields.ts';

const fieldLine = ({ name, type, suffix, offset, size, signed }: Field): string =>
  `\tfield:${type} ${name}${suffix};\toffset:${offset};\tsize:${size};\tsigned:${Number(signed)};\n`;

/** The conversion of one value; `L` as the kernel writes it for 64 bits. */
const conversion = ({ type }: FetchArg): string => {
  const long = type.size === 8 ? 'L' : '';
  switch (type.style) {
    case 'string':
      return '\\"%s\\"';
    case 'char':
      return "'%c'";
    case 'signed':
      return `%${long}d`;
    case 'unsigned':
      return `%${long}u`;
    case 'hex':
      return `0x%${long}x`;
  }
};

const operand = ({ name, type }: FetchArg, index: string): string =>
  type.style === 'string' ? `__get_str(${name}${index})` : `REC->${name}${index}`;

const perElement = <T>(arg: FetchArg, make: (index: string) => T): T[] =>
  arg.count === 0 ? [make('')] : Array.from({ length: arg.count }, (_, i) => make(`[${i}]`));

const printed = (arg: FetchArg): string => {
  const values = perElement(arg, () => conversion(arg)).join(',');
  return ` ${arg.name}=${arg.count === 0 ? values : `{${values}}`}`;
};

const printFormat = ({ kind, probes }: ProbeEvent): string => {
  const { args } = probes[0]!.definition;
  const where = kind === 'entry' ? '(%lx)' : '(%lx <- %lx)';
  const addresses = kind === 'entry' ? 'REC->__probe_ip' : 'REC->__probe_func, REC->__probe_ret_ip';
  const operands = args.flatMap((arg) => perElement(arg, (index) => operand(arg, index)));
  return `"${where}${args.map(printed).join('')}", ${[addresses, ...operands].join(', ')}`;
};

/** Text of the `format` file. */
export const formatText = (event: ProbeEvent): string =>
  [
    `name: ${event.name}\nID: ${event.id}\nformat:\n`,
    ...COMMON_FIELDS.map(fieldLine),
    '\n',
    ...fieldsOf(event).map(fieldLine),
    `\nprint fmt: ${printFormat(event)}\n`,
  ].join('');
