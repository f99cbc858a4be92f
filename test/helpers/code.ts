/**
 * Machine code for tests, written as a listing: bytes, then what they mean. iced-x86 checks the meaning, so a
 * listing cannot lie.
 */
import { Scanner } from '../../src/x86/decode.ts';

/** Where listings lie unless a test says otherwise. */
export const CODE = 0x40_0000n;

const LINE = /^\s*((?:[0-9a-f]{2} ?)+?)(?:\s{2,}(.*?))?\s*$/i;

/** Case, blanks, operand sizes and leading zeros do not count. */
const bare = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\b\w+ ptr\b/g, '')
    .replace(/\b0+(?=[0-9a-f]+h\b)/g, '')
    .replace(/\s+/g, '');

const bytesOf = (hex: string): number[] =>
  [...hex.replace(/\s+/g, '').matchAll(/../g)].map(([pair]) => Number.parseInt(pair, 16));

const check = (scanner: Scanner, bytes: readonly number[], at: bigint, meaning: string): void => {
  scanner.open(Uint8Array.from(bytes), at);
  scanner.next();
  const found = scanner.text();
  if (bare(found) !== bare(meaning) || scanner.length !== bytes.length)
    throw new Error(
      `listing says "${meaning}", the bytes say "${found}" (${scanner.length} bytes)`,
    );
};

/**
 * Bytes of a listing, one instruction a line: hex bytes, two blanks or more, text as iced-x86 prints it
 * (`mov rax,[rsp+10h]`). A line without text is not checked; `#` begins a comment.
 * @param base where the code will lie, for relative operands
 */
export const code = (listing: string, base: bigint = CODE): Uint8Array => {
  const scanner = new Scanner();
  const bytes: number[] = [];
  for (const raw of listing.split('\n')) {
    const line = raw.replace(/#.*/, '').trimEnd();
    if (line.trim() === '') continue;
    const match = LINE.exec(line);
    if (match === null) throw new Error(`not a listing line: ${line}`);
    const piece = bytesOf(match[1]!);
    if (match[2]) check(scanner, piece, base + BigInt(bytes.length), match[2]);
    bytes.push(...piece);
  }
  return Uint8Array.from(bytes);
};

/** CPUID features that a listing's instructions need, by iced-x86's names. */
export const featuresOf = (listing: string): readonly string[] => {
  const scanner = new Scanner();
  scanner.open(code(listing), CODE);
  const features = new Set<string>();
  while (scanner.next()) for (const feature of scanner.facts.features) features.add(feature);
  return [...features];
};
