/** Memory a recorded case starts with, as the head of a table describes it in words. */
import { fromHex, view } from '../base/bytes.ts';
import { Prot } from '../cpu/engine.ts';
import type { Field } from './fields.ts';

export interface Region {
  readonly address: bigint;
  readonly size: number;
  /** Bits of {@link Prot}. */
  readonly prot: number;
  /** The bytes before each run. `alt` is the case's. */
  readonly initial: (alt: bigint) => Uint8Array;
}

const PERMISSIONS: ReadonlyMap<string, number> = new Map([
  ['none', Prot.None],
  ['r', Prot.Read],
  ['rw', Prot.Read | Prot.Write],
  ['rx', Prot.Read | Prot.Exec],
  ['rwx', Prot.Read | Prot.Write | Prot.Exec],
]);

const PAGE = 4096;
/** Every byte is written before and compared after each run; recorded tables have a page a region. */
const MAX_SIZE = 1 << 24;

type Fill = (bytes: Uint8Array, alt: bigint) => void;

/** `byte i = (A*i+B) mod M`: the rule that also fills the vector registers. */
export const byteRule = (text: string): ((index: number) => number) | null => {
  const [, factor, addend = '0', modulus] =
    /byte i = \((\d+)\*i(?:\+(\d+))?\) mod (\d+)/.exec(text) ?? [];
  if (factor === undefined) return null;
  return (index) => ((Number(factor) * index + Number(addend)) % Number(modulus)) & 0xff;
};

/** `0x5a` fills; more digits are the first bytes themselves. */
const literal = (text: string): Fill | null => {
  const [, fill] = /^0x([0-9a-f]{2})$/i.exec(text) ?? [];
  if (fill !== undefined) return (bytes) => bytes.fill(Number.parseInt(fill, 16));
  const given = text === 'zero' || text === '' ? new Uint8Array(0) : fromHex(text);
  return given === undefined ? null : (bytes) => bytes.set(given.subarray(0, bytes.length));
};

/** `8 bytes at +2048 = alt` */
const patch = (text: string, room: number): Fill | null => {
  const [, size, offset, value] =
    /^([1248]) bytes? at \+(0x[0-9a-f]+|\d+) = (alt|0x[0-9a-f]+|\d+)$/i.exec(text) ?? [];
  if (size === undefined || offset === undefined || value === undefined) return null;
  if (Number(offset) + Number(size) > room) return null;
  return (bytes, alt) => {
    const word = new Uint8Array(8);
    view(word).setBigUint64(0, BigInt.asUintN(64, value === 'alt' ? alt : BigInt(value)), true);
    bytes.set(word.subarray(0, Number(size)), Number(offset));
  };
};

const base = (text: string): Fill | null => {
  const rule = byteRule(text);
  if (rule === null) return literal(text);
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = rule(i);
  };
};

/** `BASE[; PATCH, PATCH …]` */
const fillsOf = (init: Field, size: number): Fill[] => {
  const [first = '', patches] = init.text().split(';', 2);
  const words = patches === undefined ? [] : patches.split(',');
  return [base(first.trim()), ...words.map((word) => patch(word.trim(), size))].map(
    (fill) =>
      fill ??
      init.fail('a rule for initial bytes in the region, such as "byte i = (37*i+11) mod 256"'),
  );
};

const inPages = (field: Field, value: number): number =>
  value > 0 && value <= MAX_SIZE && value % PAGE === 0
    ? value
    : field.fail('a positive multiple of 4096, at most 16777216,');

/** Reads one element of `regions`. */
export const readRegion = (field: Field): Region => {
  const size = inPages(field.at('size'), field.at('size').integer());
  const address = BigInt(field.at('addr').word());
  if (address % BigInt(PAGE) !== 0n) field.at('addr').fail('the address of a page');
  const prot =
    PERMISSIONS.get(field.at('perm').text()) ?? field.at('perm').fail('none, r, rw, rx or rwx');
  const fills = field.at('init').present ? fillsOf(field.at('init'), size) : [];
  return {
    address,
    size,
    prot,
    initial: (alt) => {
      const bytes = new Uint8Array(size);
      for (const fill of fills) fill(bytes, alt);
      return bytes;
    },
  };
};
