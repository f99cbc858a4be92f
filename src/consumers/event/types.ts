/** Types of fetch arguments: `u8` … `x64`, `char`, strings, bit-fields, arrays. */
import { parseUnsigned } from './number.ts';

/** How a value is printed. */
export type Style = 'unsigned' | 'signed' | 'hex' | 'char' | 'string';

export interface ValueType {
  /** Canonical name; siblings of an event must agree on it. */
  readonly name: string;
  readonly style: Style;
  /** Bytes in the record: of the value, or of a string's location word. */
  readonly size: number;
}

const integer = (letter: string, style: Style): ValueType[] =>
  [1, 2, 4, 8].map((size) => ({ name: `${letter}${size * 8}`, style, size }));

const TYPES: ReadonlyMap<string, ValueType> = new Map(
  [
    ...integer('u', 'unsigned'),
    ...integer('s', 'signed'),
    ...integer('x', 'hex'),
    { name: 'char', style: 'char', size: 1 } as const,
    { name: 'string', style: 'string', size: 4 } as const,
    // User and kernel memory are the same thing to a uprobe, yet the two types are not siblings.
    { name: 'ustring', style: 'string', size: 4 } as const,
  ].map((type) => [type.name, type]),
);

export const DEFAULT_TYPE = TYPES.get('x64')!;
export const STRING_TYPE = TYPES.get('string')!;

/** Bits `offset` … `offset + width - 1` of a container. */
export interface BitField {
  readonly width: number;
  readonly offset: number;
}

/** The container's type of `bWIDTH@OFFSET/SIZE`, else the type of that name. */
export const findType = (name: string): ValueType | undefined => {
  if (!name.startsWith('b')) return TYPES.get(name);
  const slash = name.indexOf('/');
  if (slash < 0) return undefined;
  const size = parseUnsigned(name.slice(slash + 1));
  return typeof size === 'bigint' ? TYPES.get(`u${size}`) : undefined;
};

/** simple_strtoul: as other numbers, without a sign. */
const bits = (text: string): bigint | 'EINVAL' | 'ERANGE' =>
  text.startsWith('+') ? 'EINVAL' : parseUnsigned(text);

/**
 * The bit-field of a type text; null when the text is not one, undefined when it is a wrong one.
 * Preconditions: `findType(name)` is `container`.
 */
export const findBitField = (name: string, container: ValueType): BitField | null | undefined => {
  if (!name.startsWith('b')) return null;
  const [, widthText, offsetText] = /^b([^@]*)@(.*)\/[^/]*$/.exec(name) ?? [];
  if (widthText === undefined || offsetText === undefined) return undefined;
  const width = bits(widthText);
  const offset = bits(offsetText);
  if (typeof width !== 'bigint' || typeof offset !== 'bigint' || width === 0n) return undefined;
  // The kernel adds in 64 bits.
  if (BigInt.asUintN(64, width + offset) > BigInt(container.size * 8)) return undefined;
  return { width: Number(width), offset: Number(offset) };
};
