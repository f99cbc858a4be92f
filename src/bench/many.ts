/** A guest with many functions that have names: it calls each once and exits. */
import { CODE_ADDRESS, staticElf } from './program.ts';

const SYMBOL_SIZE = 24;
const SECTION_SIZE = 64;
const CODE_OFFSET = 0x1000;
/** STB_GLOBAL, STT_FUNC. */
const GLOBAL_FUNCTION = 0x12;

/** nop; ret. Every function has eight bytes of room. */
const BODY = [0x90, 0xc3];
const STRIDE = 8;
const CALL_SIZE = 5;

/** `mov $231,%eax; xor %edi,%edi; syscall` */
const EXIT = [0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];

const codeOf = (count: number): Uint8Array => {
  const start = count * CALL_SIZE + EXIT.length;
  const code = new Uint8Array(start + count * STRIDE);
  const words = new DataView(code.buffer);
  for (let i = 0; i < count; i++) {
    const call = i * CALL_SIZE;
    const target = start + i * STRIDE;
    code[call] = 0xe8;
    words.setInt32(call + 1, target - (call + CALL_SIZE), true);
    code.set(BODY, target);
  }
  code.set(EXIT, count * CALL_SIZE);
  return code;
};

/** Name of the function with a number. */
export const functionName = (index: number): string => `uprobe_multi_func_${index}`;

/** File offset of the function with a number, in a program of `count` functions. */
export const functionOffset = (count: number, index: number): bigint =>
  BigInt(CODE_OFFSET + count * CALL_SIZE + EXIT.length + index * STRIDE);

/** The ELF file: code, then .symtab, .strtab and their section headers. */
export const manyFunctions = (count: number): Uint8Array => {
  const program = staticElf(codeOf(count));
  const names = new TextEncoder().encode(
    `\0${Array.from({ length: count }, (_, i) => functionName(i)).join('\0')}\0`,
  );
  const symbols = symbolTable(count);
  const symbolsAt = program.length;
  const namesAt = symbolsAt + symbols.length;
  const headersAt = namesAt + names.length;
  const file = new Uint8Array(headersAt + 3 * SECTION_SIZE);
  file.set(program);
  file.set(symbols, symbolsAt);
  file.set(names, namesAt);
  const words = new DataView(file.buffer);
  section(words, headersAt + SECTION_SIZE, {
    type: 2,
    at: symbolsAt,
    size: symbols.length,
    link: 2,
  });
  section(words, headersAt + 2 * SECTION_SIZE, {
    type: 3,
    at: namesAt,
    size: names.length,
    link: 0,
  });
  words.setBigUint64(40, BigInt(headersAt), true);
  words.setUint16(58, SECTION_SIZE, true);
  words.setUint16(60, 3, true);
  words.setUint16(62, 2, true);
  return file;
};

const symbolTable = (count: number): Uint8Array => {
  const table = new Uint8Array((count + 1) * SYMBOL_SIZE);
  const words = new DataView(table.buffer);
  let nameAt = 1;
  for (let i = 0; i < count; i++) {
    const at = (i + 1) * SYMBOL_SIZE;
    words.setUint32(at, nameAt, true);
    words.setUint8(at + 4, GLOBAL_FUNCTION);
    words.setUint16(at + 6, 1, true);
    const address = CODE_ADDRESS + functionOffset(count, i) - BigInt(CODE_OFFSET);
    words.setBigUint64(at + 8, address, true);
    words.setBigUint64(at + 16, BigInt(BODY.length), true);
    nameAt += functionName(i).length + 1;
  }
  return table;
};

const section = (
  words: DataView,
  header: number,
  { type, at, size, link }: { type: number; at: number; size: number; link: number },
): void => {
  words.setUint32(header + 4, type, true);
  words.setBigUint64(header + 24, BigInt(at), true);
  words.setBigUint64(header + 32, BigInt(size), true);
  words.setUint32(header + 40, link, true);
  words.setBigUint64(header + 56, BigInt(type === 2 ? SYMBOL_SIZE : 0), true);
};
