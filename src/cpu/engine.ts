/**
 * The contract every CPU engine keeps; `test/contracts/cpu-engine.ts` is its suite.
 *
 * One engine instance is the CPU *and* the page table of one address space. It never calls upward
 * except through the trap handler given to {@link Engine.run}.
 */

/** Page rights; the bits are those of mmap(2). */
export const Prot = { None: 0, Read: 1, Write: 2, Exec: 4 } as const;

/** Index of a register in {@link RegisterFile}; 0-15 are the hardware encodings. */
export const Reg = {
  Rax: 0,
  Rcx: 1,
  Rdx: 2,
  Rbx: 3,
  Rsp: 4,
  Rbp: 5,
  Rsi: 6,
  Rdi: 7,
  R8: 8,
  R9: 9,
  R10: 10,
  R11: 11,
  R12: 12,
  R13: 13,
  R14: 14,
  R15: 15,
  Rip: 16,
  Rflags: 17,
  FsBase: 18,
  GsBase: 19,
} as const;
export type Reg = (typeof Reg)[keyof typeof Reg];

/** Size of the FXSAVE64 image that carries x87, MMX, SSE state and MXCSR. */
export const FX_IMAGE_SIZE = 512;

/** The live registers of the engine: reads and writes go straight to the CPU. */
export interface RegisterFile {
  /** Unsigned 64-bit value. `Rflags` always reads with bit 1 set and IF (0x200) set, as user code sees it. */
  read(reg: Reg): bigint;
  /** `value` is taken modulo 2^64. Writing `Rip` inside a trap handler redirects execution. */
  write(reg: Reg, value: bigint): void;
  /** EFLAGS.TF alone: the same as through `Rflags`, but cheap, for every single step needs it. */
  trapFlag: boolean;
  /** Fills `into` (512 bytes) with an FXSAVE64 image (SDM vol. 1, table 10-2). */
  readFx(into: Uint8Array): void;
  /** Loads an FXSAVE64 image of 512 bytes; MXCSR's reserved bits must be clear. */
  writeFx(image: Uint8Array): void;
}

/** What a memory access wanted to do. */
export type Access = 'read' | 'write' | 'exec';

/**
 * Why control came to the handler, and where RIP is then:
 *
 * | kind | RIP |
 * |---|---|
 * | `int3` | after the CC byte |
 * | `debug` | the next instruction (a step with EFLAGS.TF is done) |
 * | `syscall` | after the `syscall` instruction; RCX = RIP and R11 = RFLAGS are already set |
 * | `interrupt` | after `int n`; `vector` = n (`CD 03` is `interrupt` with vector 3) |
 * | `page-fault` | at the faulting instruction; `address`, `access`, `mapped` tell what was wanted |
 * | `general-protection` | at the instruction: privileged at CPL 3, non-canonical address, misaligned aligned-SSE access |
 * | `stack-fault` | at the instruction: non-canonical address through RSP or RBP |
 * | `invalid-opcode` | at the instruction |
 * | `divide-error` | at the instruction |
 * | `control-protection` | at a `ret` whose address is not the shadow stack's (only with {@link Engine.shadowStack}) |
 * | `fpu-error`, `simd-error` | at the instruction that reports an unmasked x87 / SSE exception |
 * | `unsupported` | at an instruction that the real CPU has and this engine has not; `text` names it |
 * | `budget` | the next instruction; the instruction limit of `run` is used up (at most one block late) |
 */
export type TrapKind =
  | 'int3'
  | 'debug'
  | 'syscall'
  | 'interrupt'
  | 'page-fault'
  | 'general-protection'
  | 'stack-fault'
  | 'invalid-opcode'
  | 'divide-error'
  | 'control-protection'
  | 'fpu-error'
  | 'simd-error'
  | 'unsupported'
  | 'budget';

/**
 * One trap. The engine owns and reuses the object: read it inside the handler, do not keep it.
 * Fields that a kind does not use hold stale values.
 */
export interface Trap {
  kind: TrapKind;
  /** `interrupt`: the vector. */
  vector: number;
  /** `page-fault`: the first address that could not be accessed. */
  address: bigint;
  access: Access;
  /** `page-fault`: a page is mapped there but its rights forbid the access. */
  mapped: boolean;
  /** `unsupported`: the instruction as text, for the message to the user. */
  text: string;
}

/** `go`: continue at RIP as the handler left it. `stop`: `run` returns. */
export type Answer = 'go' | 'stop';

/** Called synchronously, registers readable and writable, memory callable, `run`/`step` not. */
export type TrapHandler = (trap: Trap) => Answer;

export interface RunLimits {
  /** Instructions after which a `budget` trap comes; absent = none. */
  readonly instructions?: number;
}

/** What an engine can do; consulted before promising anything to a user. */
export interface Capabilities {
  /** VEX/EVEX instructions execute. Without it they arrive as `unsupported`. */
  readonly avx: boolean;
  /** Instruction-set extensions beyond x86-64-v1 that execute correctly, by iced-x86 feature name. */
  readonly extensions: readonly string[];
  /** Parts of x86-64-v2 that it has not yet, by iced-x86 feature name; they arrive as `unsupported`. */
  readonly lacks: readonly string[];
  /** Known wrong results, one sentence each; the text of `docs/engines.md`. */
  readonly knownWrong: readonly string[];
}

/** Opaque state of the CPU alone (all registers, x87/SSE, segment bases): one task's context. */
export interface CpuContext {
  readonly engine: string;
}

/** Opaque copy of CPU and memory. */
export interface EngineSnapshot {
  readonly engine: string;
}

/**
 * The CPU's second stack of return addresses (CET): `call` pushes, `ret` compares and pops. Each task
 * has its own; it belongs to {@link Engine.saveContext}.
 */
export interface ShadowStack {
  push(address: bigint): void;
  /** Takes the newest entry; undefined when there is none. */
  pop(): bigint | undefined;
  /** False, and nothing done, when there is no entry. */
  replaceTop(address: bigint): boolean;
}

export interface Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly regs: RegisterFile;
  /** Of the loaded context; absent on a CPU without, or where it is switched off. */
  readonly shadowStack?: ShadowStack;

  /** Instructions executed since creation: exact at block ends, deterministic. */
  readonly instructionCount: number;

  /**
   * Maps zero-filled pages. Preconditions: page-aligned, not yet mapped.
   * @param prot bits of {@link Prot}
   */
  map(address: bigint, size: bigint, prot: number): void;
  /** Preconditions: page-aligned, every page mapped. */
  unmap(address: bigint, size: bigint): void;
  /** Preconditions: page-aligned, every page mapped. */
  protect(address: bigint, size: bigint, prot: number): void;

  /** Copies guest memory out, ignoring rights. Preconditions: every page of the range is mapped. */
  peek(address: bigint, into: Uint8Array): void;
  /** Writes guest memory, ignoring rights; running code sees it at once. Preconditions: as `peek`. */
  poke(address: bigint, bytes: Uint8Array): void;

  /** Executes from RIP until the handler answers `stop`. Not re-entrant. */
  run(onTrap: TrapHandler, limits?: RunLimits): void;
  /**
   * Executes exactly one instruction (one iteration of a rep string instruction), then returns.
   * A trap of the instruction itself goes to `onTrap`; finishing it does not (no `debug` trap).
   * The step is invisible: TF never shows in pushed flags. A TF the *guest* has set is real and traps.
   */
  step(onTrap: TrapHandler): void;

  saveContext(): CpuContext;
  loadContext(context: CpuContext): void;

  capture(): EngineSnapshot;
  restore(snapshot: EngineSnapshot): void;

  /** Frees native memory; the engine is unusable afterwards. */
  dispose(): void;
}

/** Makes engines of one kind; holds the loaded module, loads nothing itself. */
export interface EngineFactory {
  readonly name: string;
  readonly capabilities: Capabilities;
  create(): Engine;
}
