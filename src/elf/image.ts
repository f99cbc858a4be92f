import { readNeeded } from './dynamic.ts';
import { ElfType, SegmentFlag, SegmentType } from './format.ts';
import { type ElfFunction, FunctionIndex } from './functions.ts';
import { type ElfHeader, readHeader } from './header.ts';
import { type ElfNote, readNotes } from './notes.ts';
import { badElf, ElfReader } from './reader.ts';
import { readSections, type Section } from './sections.ts';
import { addressOfOffset, offsetOfAddress, readSegments, type Segment } from './segments.ts';
import type { ElfSymbol } from './symbol-table.ts';
import { readSymbols } from './symbols.ts';

/** A parsed ELF file: what the layers above ask of one. */
export class ElfImage {
  readonly path: string;
  readonly header: ElfHeader;
  readonly segments: readonly Segment[];
  readonly #reader: ElfReader;
  #sections: readonly Section[] | undefined;
  #symbols: readonly ElfSymbol[] | undefined;
  #functions: FunctionIndex | undefined;
  #addresses: ReadonlyMap<string, bigint> | undefined;
  readonly #problems = new Set<string>();
  readonly #report = (problem: string): void => {
    this.#problems.add(problem);
  };

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
    this.#sections ??= readSections(this.#reader, this.header, this.#report);
    return this.#sections;
  }

  /** Broken notes are left out. */
  notes(): ElfNote[] {
    return readNotes(this.#reader, this.sections, this.segments, this.#report);
  }

  /** Defined symbols, .symtab first. */
  get symbols(): readonly ElfSymbol[] {
    this.#symbols ??= readSymbols(this.#reader, this.sections, this.segments, this.#report);
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

  /** Functions and labels in code, in address order, each name and address once. */
  functions(): ElfFunction[] {
    return this.#functionIndex().all();
  }

  /** What a name (`name`, `name@VERSION`) stands for: one place, none, or several. */
  functionsNamed(name: string): readonly ElfFunction[] {
    return this.#functionIndex().named(name);
  }

  /** Link-time address of a symbol of any type. */
  symbolAddress(name: string): bigint | undefined {
    this.#addresses ??= new Map(this.symbols.map((symbol) => [symbol.name, symbol.address]));
    return this.#addresses.get(name);
  }

  /** Sentences about what was left out so far because it is broken, each once. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  #functionIndex(): FunctionIndex {
    this.#functions ??= new FunctionIndex(this.sections, this.segments, this.symbols);
    return this.#functions;
  }
}
