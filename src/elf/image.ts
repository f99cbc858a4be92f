import { readNeeded } from './dynamic.ts';
import { ElfType, SegmentFlag, SegmentType, SymbolType } from './format.ts';
import { type ElfHeader, readHeader } from './header.ts';
import { type ElfNote, readNotes } from './notes.ts';
import { badElf, ElfReader } from './reader.ts';
import { readSections, type Section } from './sections.ts';
import { addressOfOffset, offsetOfAddress, readSegments, type Segment } from './segments.ts';
import type { ElfSymbol } from './symbol-table.ts';
import { readSymbols } from './symbols.ts';

/** A function that can be probed. */
export interface ElfFunction {
  readonly name: string;
  /** Link-time address. */
  readonly address: bigint;
  /** Where its first byte lies in the file. */
  readonly offset: bigint;
  /** 0 when the file does not say. */
  readonly size: bigint;
}

/** A parsed ELF file: what the layers above ask of one. */
export class ElfImage {
  readonly path: string;
  readonly header: ElfHeader;
  readonly segments: readonly Segment[];
  readonly #reader: ElfReader;
  #sections: readonly Section[] | undefined;
  #symbols: readonly ElfSymbol[] | undefined;

  private constructor(reader: ElfReader) {
    this.#reader = reader;
    this.path = reader.path;
    this.header = readHeader(reader);
    this.segments = readSegments(reader, this.header);
  }

  /** Throws `bad-elf` for anything that is not an x86-64 executable or shared library. */
  static parse(bytes: Uint8Array, path: string): ElfImage {
    return new ElfImage(new ElfReader(bytes, path));
  }

  get bytes(): Uint8Array {
    return this.#reader.bytes;
  }

  /** Loaded at the addresses of the file (ET_EXEC), or anywhere (PIE, shared library). */
  get fixedAddress(): boolean {
    return this.header.type === ElfType.Exec;
  }

  /** Path of the dynamic linker, or null for a static program. */
  get interpreter(): string | null {
    const segment = this.segments.find(({ type }) => type === SegmentType.Interp);
    if (segment === undefined) return null;
    const { offset, fileSize } = segment;
    const at = this.#reader.need(offset, fileSize, 'the path of its interpreter');
    const end = at + Number(fileSize);
    // As load_elf_binary has it: 2 to PATH_MAX bytes, the last one NUL.
    if (fileSize < 2n || fileSize > 4096n || this.bytes[end - 1] !== 0)
      throw badElf(this.path, 'the path of its interpreter is not a proper string');
    return this.#reader.string(at, end);
  }

  /** PT_GNU_STACK asks for an executable stack. x86-64 programs without it get none. */
  get executableStack(): boolean {
    const segment = this.segments.find(({ type }) => type === SegmentType.GnuStack);
    return segment !== undefined && (segment.flags & SegmentFlag.Exec) !== 0;
  }

  /** Empty for a file without section headers. */
  get sections(): readonly Section[] {
    this.#sections ??= readSections(this.#reader, this.header);
    return this.#sections;
  }

  /** Throws `bad-elf` when a note is broken. */
  notes(): ElfNote[] {
    return readNotes(this.#reader, this.sections, this.segments);
  }

  /** Defined symbols, .symtab first. */
  get symbols(): readonly ElfSymbol[] {
    this.#symbols ??= readSymbols(this.#reader, this.sections, this.segments);
    return this.#symbols;
  }

  /** Names of the libraries it asks for. */
  get needed(): readonly string[] {
    return readNeeded(this.#reader, this.segments);
  }

  offsetOfAddress(address: bigint): bigint | undefined {
    return offsetOfAddress(this.segments, address);
  }

  addressOfOffset(offset: bigint): bigint | undefined {
    return addressOfOffset(this.segments, offset);
  }

  /** Functions in address order, each name and address once. */
  functions(): ElfFunction[] {
    const seen = new Set<string>();
    return this.symbols
      .filter(isFunction)
      .flatMap((symbol) => this.#withOffset(symbol))
      .filter(({ name, address }) => {
        const key = `${name} ${address}`;
        return !seen.has(key) && seen.add(key);
      })
      .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  }

  /**
   * The function of that name, its default version if there are several; a label without a type
   * (assembly) if no function has the name.
   */
  findFunction(name: string): ElfFunction | undefined {
    const named = this.symbols.filter((symbol) => symbol.name === name);
    const functions = named.filter(isFunction);
    const best =
      functions.find(({ hidden }) => !hidden) ??
      functions[0] ??
      named.find(({ type }) => type === SymbolType.None);
    return best === undefined ? undefined : this.#withOffset(best)[0];
  }

  #withOffset({ name, address, size }: ElfSymbol): ElfFunction[] {
    const offset = this.offsetOfAddress(address);
    return offset === undefined ? [] : [{ name, address, offset, size }];
  }
}

const isFunction = ({ type }: ElfSymbol): boolean =>
  type === SymbolType.Func || type === SymbolType.Ifunc;
