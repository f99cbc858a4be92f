import { At } from '../abi/auxv.ts';
import { pageUp } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';
import { type AddressSpace, TASK_SIZE } from '../memory/address-space.ts';
import type { Inode } from '../memory/backing.ts';
import type { AuxEntry } from './auxv.ts';
import { buildFirstStack } from './first-stack.ts';
import { PROGRAM_HEADER_SIZE, SegmentType } from './format.ts';
import { ElfImage } from './image.ts';
import { type MappedImage, mapImage } from './map-image.ts';
import { badElf } from './reader.ts';

/** ELF_ET_DYN_BASE: two thirds of the address space. */
const DYN_BASE = (TASK_SIZE / 3n) * 2n;

/** Facts of the CPU and the user that the auxiliary vector carries. */
export interface AuxFacts {
  /** AT_HWCAP: EDX of CPUID leaf 1. */
  readonly hwcap: bigint;
  readonly hwcap2: bigint;
  /** AT_MINSIGSTKSZ. */
  readonly minSignalStack: bigint;
  readonly uid: number;
  readonly gid: number;
}

export interface LoadRequest {
  readonly file: Inode;
  /** The dynamic linker by its path in the guest's view. */
  interpreter(path: string): Inode | undefined;
  readonly argv: readonly Uint8Array[];
  readonly env: readonly Uint8Array[];
  /** AT_EXECFN: the path given to execve. */
  readonly execFn: Uint8Array;
  /** The 16 bytes of AT_RANDOM. */
  readonly random: Uint8Array;
  readonly facts: AuxFacts;
}

export interface LoadedProgram {
  /** Where the first instruction is: the interpreter's, if there is one. */
  readonly entry: bigint;
  readonly sp: bigint;
  /** Start of the heap, page-aligned; nothing is mapped there yet. */
  readonly brkStart: bigint;
  readonly image: ElfImage;
  /** Added to the program's link-time addresses. */
  readonly bias: bigint;
  /** AT_BASE; 0 without interpreter. */
  readonly interpreterBase: bigint;
  /** The auxiliary vector as it lies on the stack, AT_NULL included. */
  readonly auxv: Uint8Array;
}

/**
 * execve's work on an empty address space, randomisation off. Preconditions: nothing is mapped.
 * Throws `bad-elf` or `file-missing`.
 */
export const loadProgram = (space: AddressSpace, request: LoadRequest): LoadedProgram => {
  const image = ElfImage.parse(readAll(request.file), request.file.path);
  const interpreter = openInterpreter(image, request);
  const place = interpreter === null ? undefined : DYN_BASE;
  const program = mapImage(space, image, request.file, place);
  const linker =
    interpreter === null ? null : mapImage(space, interpreter.image, interpreter.file, undefined);
  const entry = image.header.entry + program.bias;
  const stack = buildFirstStack(space, {
    ...request,
    path: image.path,
    platform: 'x86_64',
    executable: image.executableStack,
    auxv: auxvOf(image, program, linker, request.facts),
  });
  return {
    entry:
      interpreter === null || linker === null
        ? entry
        : interpreter.image.header.entry + linker.bias,
    sp: stack.sp,
    brkStart: brkStart(image, program),
    image,
    bias: program.bias,
    interpreterBase: linker?.bias ?? 0n,
    auxv: stack.auxv,
  };
};

/** A PIE without interpreter lies in the mmap area, where a heap could not grow: it gets ELF_ET_DYN_BASE. */
const brkStart = (image: ElfImage, program: MappedImage): bigint =>
  image.fixedAddress || image.interpreter !== null ? pageUp(program.end) : pageUp(DYN_BASE);

const openInterpreter = (
  image: ElfImage,
  request: LoadRequest,
): { readonly file: Inode; readonly image: ElfImage } | null => {
  const path = image.interpreter;
  if (path === null) return null;
  const file = request.interpreter(path);
  if (file === undefined)
    throw new TraplineError('file-missing', `${image.path}: its interpreter ${path} is not there`, {
      hint: 'give the guest a root directory that has it: --root DIR (--root / for this machine)',
      errno: 'ENOENT',
    });
  return { file, image: ElfImage.parse(readAll(file), path) };
};

/** In the order of create_elf_tables (Linux 6.18), without a vdso. */
const auxvOf = (
  image: ElfImage,
  program: MappedImage,
  linker: MappedImage | null,
  facts: AuxFacts,
): AuxEntry[] => {
  return [
    [At.MINSIGSTKSZ, facts.minSignalStack],
    [At.HWCAP, facts.hwcap],
    [At.PAGESZ, 4096n],
    [At.CLKTCK, 100n],
    [At.PHDR, headersAddress(image) + program.bias],
    [At.PHENT, BigInt(PROGRAM_HEADER_SIZE)],
    [At.PHNUM, BigInt(image.header.programHeaders.count)],
    [At.BASE, linker?.bias ?? 0n],
    [At.FLAGS, 0n],
    [At.ENTRY, image.header.entry + program.bias],
    [At.UID, BigInt(facts.uid)],
    [At.EUID, BigInt(facts.uid)],
    [At.GID, BigInt(facts.gid)],
    [At.EGID, BigInt(facts.gid)],
    [At.SECURE, 0n],
    // The first stack knows these three addresses.
    [At.RANDOM, 0n],
    [At.HWCAP2, facts.hwcap2],
    [At.EXECFN, 0n],
    [At.PLATFORM, 0n],
    // struct rseq: offset of its end, and its alignment.
    [At.RSEQ_FEATURE_SIZE, 28n],
    [At.RSEQ_ALIGN, 32n],
  ];
};

/** AT_PHDR before the bias: by the last segment that has the headers; 0 when none has. */
const headersAddress = ({ header, segments }: ElfImage): bigint => {
  const { offset } = header.programHeaders;
  const holder = segments.findLast(
    (segment) =>
      segment.type === SegmentType.Load &&
      offset >= segment.offset &&
      offset < segment.offset + segment.fileSize,
  );
  return holder === undefined ? 0n : offset - holder.offset + holder.address;
};

/** More than any program has; keeps a mistaken path from filling memory. */
const FILE_LIMIT = 1n << 30n;

const readAll = (file: Inode): Uint8Array => {
  if (file.size > FILE_LIMIT) throw badElf(file.path, 'larger than 1 GiB');
  const bytes = new Uint8Array(Number(file.size));
  return bytes.subarray(0, file.read(0n, bytes));
};
