/**
 * What an engine of the Unicorn family needs from the library below it. Two bindings exist: the
 * JavaScript build (`js.ts`) and the native library, whose functions the host hands over.
 */

/** Register numbers of Unicorn's x86 API; the same in 1.0 and 2.0. */
export const UcReg = {
  /** By hardware encoding: RAX RCX RDX RBX RSP RBP RSI RDI R8-R15. */
  general: [35, 38, 40, 37, 44, 36, 43, 39, 106, 107, 108, 109, 110, 111, 112, 113],
  rip: 41,
  eflags: 25,
  fsBase: 250,
  gsBase: 251,
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
export const UcError = {
  ok: 0,
  readUnmapped: 6,
  writeUnmapped: 7,
  fetchUnmapped: 8,
  invalidInstruction: 10,
  writeProtected: 12,
  readProtected: 13,
  fetchProtected: 14,
  exception: 21,
} as const;

/** `type` of a memory fault hook. */
export const UcMemory = {
  readUnmapped: 19,
  writeUnmapped: 20,
  fetchUnmapped: 21,
  writeProtected: 22,
  readProtected: 23,
  fetchProtected: 24,
} as const;

/** Host memory that backs guest pages. */
export interface HostBlock {
  readonly size: number;
  /** The bytes; valid until the next allocation (the JavaScript heap may move when it grows). */
  view(): Uint8Array;
}

/** Callbacks out of the running CPU; none of them may start it again. */
export interface Hooks {
  /** An exception or interrupt number. */
  interrupt(vector: number): void;
  /** A `syscall` instruction, RIP at it. */
  syscall(): void;
  /** A block is about to run; `size` is that of the translation, 0 when unknown. */
  block(address: number, size: number): void;
  /** An access failed. True: retry it, the page is there now. False: leave the run with an error. */
  fault(type: number, address: bigint, size: number): boolean;
}

/** One open CPU. Addresses of pages are below 2^47. */
export interface UnicornCpu {
  allocate(size: number): HostBlock;
  free(block: HostBlock): void;
  /** Maps `size` bytes of `block` from `offset`. */
  map(address: number, size: number, prot: number, block: HostBlock, offset: number): void;
  unmap(address: number, size: number): void;
  /** Forgets translations of code in this range. */
  forgetCode(address: number, size: number): void;

  readRegister(id: number): bigint;
  writeRegister(id: number, value: bigint): void;
  /** For registers wider or stranger than 64 bits. */
  readRegisterBytes(id: number, into: Uint8Array): void;
  writeRegisterBytes(id: number, bytes: Uint8Array): void;

  /** Runs from `rip` until something stops it; returns a {@link UcError}. */
  start(rip: bigint): number;
  stop(): void;
  close(): void;
}

/** A loaded library. */
export interface UnicornLibrary {
  open(hooks: Hooks): UnicornCpu;
}
