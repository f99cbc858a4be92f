/**
 * What an engine of the Unicorn family needs from the library below it. Two bindings exist: the
 * JavaScript build (`js.ts`) and the native library, which the host binds.
 */

/** Register numbers of Unicorn's x86 API; the same in 1.0 and 2.0. */
export const UcReg = {
  /** By hardware encoding: RAX RCX RDX RBX RSP RBP RSI RDI R8-R15. */
  general: [35, 38, 40, 37, 44, 36, 43, 39, 106, 107, 108, 109, 110, 111, 112, 113],
  rip: 41,
  eflags: 25,
  fsBase: 250,
  gsBase: 251,
  cr0: 50,
  cr3: 53,
  cr4: 54,
  gdtr: 243,
  fpsw: 31,
  fpcw: 246,
  fptag: 247,
  mxcsr: 249,
  /** FP0 = physical register R0. */
  fp0: 82,
  xmm0: 122,
} as const;

/** Results of `uc_emu_start` that this layer tells apart. */
export const UcError = { ok: 0, invalidInstruction: 10 } as const;

/** `type` of a memory hook: the region may not be executed. */
export const FETCH_PROTECTED = 24;

/** `type` of a memory hook: Unicorn has no region there for a read, a write, a fetch. */
export const MISSING_REGION: ReadonlySet<number> = new Set([19, 20, 21]);

/** Host memory that backs guest pages. */
export interface HostBlock {
  readonly size: number;
  /** The bytes; valid until the next allocation (the JavaScript heap moves when it grows). */
  view(): Uint8Array;
}

/** A piece of the library's own memory, as two views of the same bytes. */
export interface LibraryMemory {
  words(): Int32Array;
  longs(): BigUint64Array;
}

/** Callbacks out of the running CPU; none of them may start it again or throw. */
export interface Hooks {
  /** An exception or interrupt number. */
  interrupt(vector: number): void;
  /** A `syscall` instruction, RIP at it. */
  syscall(): void;
  /** A block is about to run; `size` is that of the translation, 0 when it was cut short. */
  block(address: number, size: number): void;
  /** A byte of code is about to be translated; only where {@link UnicornCpu.announcesFetches}. */
  fetch(address: number, size: number): void;
  /** Unicorn knows no region at `address`. True: retry, it is there now. */
  regionMissing(address: bigint): boolean;
}

/** One open CPU. */
export interface UnicornCpu {
  /** Guest address space is backed in windows of this size. */
  readonly windowSize: number;
  /** Fresh memory is zero. */
  readonly zeroed: boolean;
  /** Code in regions without the right to execute is executed all the same, after a `fetch` a byte. */
  readonly announcesFetches: boolean;
  allocate(size: number): HostBlock;
  free(block: HostBlock): void;
  /** Makes `block` a region at `address`; `prot` as in mmap(2). */
  map(address: number, prot: number, block: HostBlock): void;
  unmap(address: number, size: number): void;
  protect(address: number, size: number, prot: number): void;
  /** Forgets translations of code in this range. */
  forgetCode(address: number, size: number): void;

  readRegister(id: number): bigint;
  writeRegister(id: number, value: bigint): void;
  /** For registers wider or stranger than 64 bits. */
  readRegisterBytes(id: number, into: Uint8Array): void;
  writeRegisterBytes(id: number, bytes: Uint8Array): void;
  /** Pieces of memory that the CPU's handle points to; one of them holds the CPU's state. */
  reachableMemory(): Iterable<LibraryMemory>;

  /** Runs from `rip` until something stops it or it gets to `until`; returns a {@link UcError}. */
  start(rip: bigint, until: bigint): number;
  stop(): void;
  close(): void;
}

/** A loaded library. */
export interface UnicornLibrary {
  /**
   * The hooks may be replaced later: each call looks them up.
   * @param blockTable bytes of a `BlockTable`: `hooks.block` need not be called for what `passPlain` would pass
   */
  open(hooks: Hooks, blockTable: Uint8Array): UnicornCpu;
}
