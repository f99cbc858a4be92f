/** An engine with a page of code, two of data and a stack, and a record of what traps came. */
import {
  type Access,
  type Answer,
  type Engine,
  type EngineFactory,
  FX_IMAGE_SIZE,
  Prot,
  Reg,
  type Trap,
  type TrapKind,
} from '../../../src/cpu/engine.ts';
import { CODE, code, featuresOf } from '../../helpers/code.ts';

export const DATA = 0x60_0000n;
export const DATA_SIZE = 0x2000n;
/** Nothing is ever mapped here, unless a test does it. */
export const NOWHERE = 0x90_0000n;
export const STACK_TOP = 0x70_8000n;
const STACK_SIZE = 0x8000n;
const CODE_SIZE = 0x4000n;
export const FLAGS = 0x202n;

/** Arithmetic flags (SDM vol. 1, 3.4.3.1). */
export const Flag = {
  CF: 1n,
  PF: 4n,
  AF: 0x10n,
  ZF: 0x40n,
  SF: 0x80n,
  DF: 0x400n,
  OF: 0x800n,
} as const;
export const TF = 0x100n;

/** A trap as it was when it came. */
export interface Seen {
  readonly kind: TrapKind;
  /** RIP relative to the code's start. */
  readonly at: number;
  readonly vector: number;
  readonly address: bigint;
  readonly access: Access;
  readonly mapped: boolean;
  readonly text: string;
}

/** What a handler of these tests answers; undefined = stop. */
export type Reaction = (trap: Trap, seen: Seen) => Answer | undefined;

export class Rig {
  readonly engine: Engine;
  /** Ends the test that is running with a note. */
  skip: (note: string) => void = () => {};

  constructor(factory: EngineFactory) {
    this.engine = factory.create();
    this.engine.map(CODE, CODE_SIZE, Prot.Read | Prot.Exec);
    this.engine.map(DATA, DATA_SIZE, Prot.Read | Prot.Write);
    this.engine.map(STACK_TOP - STACK_SIZE, STACK_SIZE, Prot.Read | Prot.Write);
  }

  get(reg: Reg): bigint {
    return this.engine.regs.read(reg);
  }

  set(reg: Reg, value: bigint): void {
    this.engine.regs.write(reg, value);
  }

  /** Arithmetic flags only. */
  get arithmetic(): bigint {
    return this.get(Reg.Rflags) & 0x8d5n;
  }

  /** Puts a listing at the start of the code page, clears registers, data and FPU, and sets RIP to it. */
  load(listing: string): void {
    const { lacks } = this.engine.capabilities;
    const lacking = featuresOf(listing).filter((feature) => lacks.includes(feature));
    if (lacking.length > 0) this.skip(`engine ${this.engine.name} lacks ${lacking.join(', ')}`);
    const bytes = new Uint8Array(Number(CODE_SIZE));
    bytes.set(code(listing));
    this.engine.poke(CODE, bytes);
    this.engine.poke(DATA, new Uint8Array(Number(DATA_SIZE)));
    for (let reg = Reg.Rax; reg <= Reg.R15; reg++) this.set(reg as Reg, 0n);
    this.set(Reg.Rsp, STACK_TOP - 0x800n);
    this.set(Reg.Rflags, FLAGS);
    this.set(Reg.FsBase, 0n);
    this.set(Reg.GsBase, 0n);
    this.engine.regs.writeFx(initialFx());
    this.set(Reg.Rip, CODE);
  }

  /** Runs until `react` answers `stop` (by default at the first trap); what came, in order. */
  run(react: Reaction = () => undefined, instructions?: number): Seen[] {
    const seen: Seen[] = [];
    const limits = instructions === undefined ? {} : { instructions };
    this.engine.run((trap) => this.#react(trap, seen, react), limits);
    return seen;
  }

  /** One `step`; traps other than its end. */
  step(react: Reaction = () => undefined): Seen[] {
    const seen: Seen[] = [];
    this.engine.step((trap) => this.#react(trap, seen, react));
    return seen;
  }

  /** RIP relative to the code's start. */
  get at(): number {
    return Number(BigInt.asIntN(64, this.get(Reg.Rip) - CODE));
  }

  peek(address: bigint, size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    this.engine.peek(address, bytes);
    return bytes;
  }

  peek64(address: bigint): bigint {
    return new DataView(this.peek(address, 8).buffer).getBigUint64(0, true);
  }

  poke64(address: bigint, value: bigint): void {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, value), true);
    this.engine.poke(address, bytes);
  }

  fx(): Uint8Array {
    const image = new Uint8Array(FX_IMAGE_SIZE);
    this.engine.regs.readFx(image);
    return image;
  }

  #react(trap: Trap, seen: Seen[], react: Reaction): Answer {
    const { kind, vector, address, access, mapped, text } = trap;
    const one = { kind, at: this.at, vector, address, access, mapped, text };
    seen.push(one);
    return react(trap, one) ?? 'stop';
  }
}

/** x87 and SSE as execve(2) leaves them: FCW 0x37F, empty stack, MXCSR 0x1F80. */
export const initialFx = (): Uint8Array => {
  const image = new Uint8Array(FX_IMAGE_SIZE);
  const view = new DataView(image.buffer);
  view.setUint16(0, 0x37f, true);
  view.setUint32(24, 0x1f80, true);
  return image;
};

/** `kind@offset` of each trap. */
export const briefly = (seen: readonly Seen[]): string[] =>
  seen.map(({ kind, at }) => `${kind}@${at}`);
