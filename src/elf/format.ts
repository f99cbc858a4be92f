/** Numbers of the ELF specification (System V ABI, chapters 4 and 5; AMD64 supplement). */

export const ELF_HEADER_SIZE = 64;
export const PROGRAM_HEADER_SIZE = 56;
export const SECTION_HEADER_SIZE = 64;
export const SYMBOL_SIZE = 24;
export const DYNAMIC_ENTRY_SIZE = 16;

export const ElfType = { Rel: 1, Exec: 2, Dyn: 3, Core: 4 } as const;
export const EM_X86_64 = 62;
export const ELFCLASS64 = 2;
export const ELFDATA2LSB = 1;

export const SegmentType = {
  Load: 1,
  Dynamic: 2,
  Interp: 3,
  Note: 4,
  GnuStack: 0x6474e551,
} as const;

/** Bits of p_flags. */
export const SegmentFlag = { Exec: 1, Write: 2, Read: 4 } as const;

export const SectionType = {
  SymTab: 2,
  StrTab: 3,
  Note: 7,
  NoBits: 8,
  DynSym: 11,
  GnuVerdef: 0x6ffffffd,
  GnuVersym: 0x6fffffff,
} as const;

export const DynamicTag = {
  Null: 0,
  Needed: 1,
  Hash: 4,
  StrTab: 5,
  SymTab: 6,
  StrSize: 10,
  SymEntry: 11,
  GnuHash: 0x6ffffef5,
  Versym: 0x6ffffff0,
  Verdef: 0x6ffffffc,
} as const;

/** e_shstrndx when the index does not fit: it is in sh_link of section 0. */
export const SHN_XINDEX = 0xffff;

/** Bit of sh_flags: machine instructions. */
export const SHF_EXECINSTR = 4n;

/** Bit of a .gnu.version entry: not the default version of the name. */
export const VERSYM_HIDDEN = 0x8000;

/** High four bits of st_info. */
export const SymbolBinding = { Local: 0, Global: 1, Weak: 2 } as const;

/** Low four bits of st_info. */
export const SymbolType = { None: 0, Object: 1, Func: 2, Section: 3, File: 4, Ifunc: 10 } as const;
