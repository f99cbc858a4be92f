import {
  ELF_HEADER_SIZE,
  ELFCLASS64,
  ELFDATA2LSB,
  ElfType,
  EM_X86_64,
  PROGRAM_HEADER_SIZE,
} from './format.ts';
import { badElf, type ElfReader } from './reader.ts';

/** load_elf_phdrs reads no more bytes of them. */
const PROGRAM_HEADERS_LIMIT = 65536;

export interface ElfHeader {
  readonly type: number;
  readonly entry: bigint;
  readonly programHeaders: { readonly offset: bigint; readonly count: number };
  /** As written; {@link readSections} judges them. */
  readonly sectionHeaders: {
    readonly offset: bigint;
    readonly entrySize: number;
    readonly count: number;
    /** Index of the section with the names of sections. */
    readonly names: number;
  };
}

/** Reads the file header and refuses what is not an x86-64 program or library. */
export const readHeader = (reader: ElfReader): ElfHeader => {
  const { path } = reader;
  checkIdent(reader);
  if (reader.bytes.length < ELF_HEADER_SIZE)
    throw badElf(path, 'truncated: the ELF header is incomplete');
  const machine = reader.u16(18);
  if (machine !== EM_X86_64)
    throw badElf(path, `made for machine ${machine}, not for x86-64 (${EM_X86_64})`);
  const type = reader.u16(16);
  if (type !== ElfType.Exec && type !== ElfType.Dyn)
    throw badElf(path, `${typeName(type)}, not an executable or shared library`);
  if (reader.u16(54) !== PROGRAM_HEADER_SIZE)
    throw badElf(path, `program headers of ${reader.u16(54)} bytes instead of 56`);
  const count = reader.u16(56);
  if (count === 0) throw badElf(path, 'no program headers, so nothing to load');
  if (count * PROGRAM_HEADER_SIZE > PROGRAM_HEADERS_LIMIT)
    throw badElf(path, `${count} program headers; the kernel takes 1170 at most`);
  return {
    type,
    entry: reader.u64(24),
    programHeaders: { offset: reader.u64(32), count },
    sectionHeaders: {
      offset: reader.u64(40),
      entrySize: reader.u16(58),
      count: reader.u16(60),
      names: reader.u16(62),
    },
  };
};

const checkIdent = ({ bytes, path }: ElfReader): void => {
  if (bytes[0] !== 0x7f || bytes[1] !== 0x45 || bytes[2] !== 0x4c || bytes[3] !== 0x46)
    throw badElf(path, bytes.length === 0 ? 'the file is empty' : 'not an ELF file');
  if (bytes.length < 16) throw badElf(path, 'truncated: the ELF header is incomplete');
  if (bytes[4] !== ELFCLASS64)
    throw badElf(
      path,
      bytes[4] === 1 ? 'a 32-bit program; only 64-bit ones run' : 'unknown ELF class',
    );
  if (bytes[5] !== ELFDATA2LSB)
    throw badElf(path, bytes[5] === 2 ? 'big-endian, not an x86-64 program' : 'unknown byte order');
};

const typeName = (type: number): string => {
  if (type === ElfType.Rel) return 'an object file (link it first)';
  if (type === ElfType.Core) return 'a core dump';
  return `ELF type ${type}`;
};
