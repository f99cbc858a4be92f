/**
 * A CPU with a shadow stack, around one without: it executes one instruction at a time and looks at
 * each before. Only near calls and returns count (SDM vol. 1, 17.2); `call` to the next instruction
 * pushes like any other here.
 */
import { PAGE_SIZE } from '../../base/bytes.ts';
import { decodeInsn, type Insn, MAX_INSN_SIZE, modrmReg } from '../../x86/insn.ts';
import {
  type Answer,
  type Capabilities,
  type CpuContext,
  type Engine,
  type EngineSnapshot,
  Reg,
  type RegisterFile,
  type RunLimits,
  type Trap,
  type TrapHandler,
  type TrapKind,
} from '../engine.ts';
import { Regions } from '../regions.ts';
import { ReturnStack } from './return-stack.ts';

const pageOf = (address: bigint): number => Number(address / PAGE_SIZE);

type Transfer = 'call' | 'return' | null;

const NEAR_CALL = 0xe8;
const NEAR_RETURNS = new Set([0xc2, 0xc3]);
const GROUP_5 = 0xff;
const GROUP_5_CALL = 2;

const transferOf = (insn: Insn): Transfer => {
  const [opcode = 0] = insn.opcode;
  if (insn.vector !== null) return null;
  if (NEAR_RETURNS.has(opcode)) return 'return';
  const indirect = opcode === GROUP_5 && modrmReg(insn) === GROUP_5_CALL;
  return opcode === NEAR_CALL || indirect ? 'call' : null;
};

interface Context extends CpuContext {
  readonly inner: CpuContext;
  readonly addresses: readonly bigint[];
}

interface Snapshot extends EngineSnapshot {
  readonly inner: EngineSnapshot;
  readonly addresses: readonly bigint[];
  readonly regions: Regions;
}

export class ShadowStackEngine implements Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly regs: RegisterFile;
  readonly shadowStack = new ReturnStack();
  readonly #inner: Engine;
  readonly #code = new Uint8Array(MAX_INSN_SIZE);
  readonly #word = new BigUint64Array(1);
  /** Which pages can be looked at. */
  #regions = new Regions();
  readonly #trap: Trap = {
    kind: 'budget',
    vector: 0,
    address: 0n,
    access: 'exec',
    mapped: true,
    text: '',
  };

  constructor(inner: Engine) {
    this.#inner = inner;
    this.name = inner.name;
    this.capabilities = inner.capabilities;
    this.regs = inner.regs;
  }

  get instructionCount(): number {
    return this.#inner.instructionCount;
  }

  map(address: bigint, size: bigint, prot: number): void {
    this.#inner.map(address, size, prot);
    this.#regions.set(pageOf(address), pageOf(address + size), prot);
  }

  unmap(address: bigint, size: bigint): void {
    this.#inner.unmap(address, size);
    this.#regions.set(pageOf(address), pageOf(address + size), undefined);
  }

  protect(address: bigint, size: bigint, prot: number): void {
    this.#inner.protect(address, size, prot);
  }

  peek(address: bigint, into: Uint8Array): void {
    this.#inner.peek(address, into);
  }

  poke(address: bigint, bytes: Uint8Array): void {
    this.#inner.poke(address, bytes);
  }

  run(onTrap: TrapHandler, { instructions = Number.POSITIVE_INFINITY }: RunLimits = {}): void {
    const end = this.instructionCount + instructions;
    for (;;) {
      if (this.#execute(onTrap) === 'stop') return;
      if (this.instructionCount >= end && this.#raise('budget', onTrap) === 'stop') return;
    }
  }

  step(onTrap: TrapHandler): void {
    this.#execute(onTrap);
  }

  saveContext(): CpuContext {
    const context: Context = {
      engine: this.name,
      inner: this.#inner.saveContext(),
      addresses: this.shadowStack.save(),
    };
    return context;
  }

  loadContext(context: CpuContext): void {
    const { inner, addresses } = context as Context;
    this.#inner.loadContext(inner);
    this.shadowStack.load(addresses);
  }

  capture(): EngineSnapshot {
    const snapshot: Snapshot = {
      engine: this.name,
      inner: this.#inner.capture(),
      addresses: this.shadowStack.save(),
      regions: this.#regions.clone(),
    };
    return snapshot;
  }

  restore(snapshot: EngineSnapshot): void {
    const { inner, addresses, regions } = snapshot as Snapshot;
    this.#inner.restore(inner);
    this.shadowStack.load(addresses);
    this.#regions = regions.clone();
  }

  dispose(): void {
    this.#inner.dispose();
  }

  /** One instruction. */
  #execute(onTrap: TrapHandler): Answer {
    const ip = this.regs.read(Reg.Rip);
    const insn = decodeInsn(this.#code.subarray(0, this.#read(ip, this.#code)));
    const transfer = insn === null ? null : transferOf(insn);
    if (transfer === 'return' && !this.#matches()) return this.#raise('control-protection', onTrap);
    let answer: Answer = 'go';
    let done = false;
    const complete = (): void => {
      done = true;
      if (transfer === 'call') this.shadowStack.push(ip + BigInt(insn?.length ?? 0));
      if (transfer === 'return') this.shadowStack.pop();
    };
    this.#inner.step((trap) => {
      // A step of the program's own comes after the instruction, everything else instead of it.
      if (trap.kind === 'debug') complete();
      done = true;
      answer = onTrap(trap);
      return 'stop';
    });
    if (!done) complete();
    return answer;
  }

  /** The address a return would go to is the shadow stack's; one that cannot be read faults otherwise. */
  #matches(): boolean {
    const word = new Uint8Array(this.#word.buffer);
    if (this.#read(this.regs.read(Reg.Rsp), word) < word.length) return true;
    return this.#word[0] === this.shadowStack.top;
  }

  /** Copies what is mapped; returns how much that was. */
  #read(address: bigint, into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const at = address + BigInt(done);
      if (this.#regions.protOf(pageOf(at)) === undefined) return done;
      const room = Number(PAGE_SIZE - (at % PAGE_SIZE));
      const piece = into.subarray(done, Math.min(into.length, done + room));
      this.#inner.peek(at, piece);
      done += piece.length;
    }
    return done;
  }

  #raise(kind: TrapKind, onTrap: TrapHandler): Answer {
    this.#trap.kind = kind;
    return onTrap(this.#trap);
  }
}
