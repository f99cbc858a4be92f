import { PAGE_SIZE, u64 } from '../../base/bytes.ts';
import { TraplineError } from '../../base/errors.ts';
import {
  type Access,
  type Answer,
  type Capabilities,
  type CpuContext,
  type Engine,
  type EngineSnapshot,
  FX_IMAGE_SIZE,
  Reg,
  type RunLimits,
  type Trap,
  type TrapHandler,
  type TrapKind,
} from '../engine.ts';
import { type Hooks, UcMemory, UcReg, type UnicornCpu, type UnicornLibrary } from './binding.ts';
import { GuestMemory, USER_END } from './memory.ts';
import { UnicornRegisters } from './registers.ts';
import { enterUserMode } from './user-mode.ts';

const TF = 0x100n;
/** Where `start` ends by itself: the guard page below TASK_SIZE's end, which nobody can map. */
export const NOWHERE = 0x7fff_ffff_f000n;

const ACCESS: Readonly<Record<number, Access>> = {
  [UcMemory.readUnmapped]: 'read',
  [UcMemory.readProtected]: 'read',
  [UcMemory.writeUnmapped]: 'write',
  [UcMemory.writeProtected]: 'write',
  [UcMemory.fetchUnmapped]: 'exec',
  [UcMemory.fetchProtected]: 'exec',
};

interface Context extends CpuContext {
  readonly regs: readonly bigint[];
  readonly fx: Uint8Array;
}

interface Snapshot extends EngineSnapshot {
  readonly context: Context;
  readonly pages: readonly {
    readonly start: number;
    readonly prot: number;
    readonly bytes: Uint8Array;
  }[];
}

export class UnicornEngine implements Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly regs: UnicornRegisters;
  instructionCount = 0;

  private readonly cpu: UnicornCpu;
  private readonly memory: GuestMemory;
  private readonly trap: Trap = {
    kind: 'int3',
    vector: 0,
    address: 0n,
    access: 'read',
    mapped: false,
    text: '',
  };
  private handler: TrapHandler | undefined;
  /** The step in hand: its `debug` trap ends the run unseen. */
  private stepping = false;
  private stopped = false;
  private faultType = 0;
  private faultAddress = 0n;
  private inHook = false;

  constructor(name: string, capabilities: Capabilities, library: UnicornLibrary) {
    this.name = name;
    this.capabilities = capabilities;
    const hooks: Hooks = {
      interrupt: (vector) => this.onInterrupt(vector),
      syscall: () => this.onSyscall(),
      block: () => {},
      fault: (type, address) => this.onFault(type, address),
    };
    this.cpu = library.open(hooks);
    this.regs = new UnicornRegisters(this.cpu);
    this.memory = new GuestMemory(this.cpu);
    this.cpu.writeRegister(UcReg.cr4, this.cpu.readRegister(UcReg.cr4) | 0x600n);
    this.cpu.writeRegister(UcReg.fpcw, 0x37fn);
    this.cpu.writeRegister(UcReg.mxcsr, 0x1f80n);
    this.cpu.writeRegister(UcReg.fptag, 0xffffn);
    enterUserMode(this.cpu, NOWHERE);
    this.regs.rip = 0n;
  }

  map(address: bigint, size: bigint, prot: number): void {
    this.memory.map(...range(address, size), prot);
  }

  unmap(address: bigint, size: bigint): void {
    this.memory.unmap(...range(address, size));
  }

  protect(address: bigint, size: bigint, prot: number): void {
    this.memory.protect(...range(address, size), prot);
  }

  peek(address: bigint, into: Uint8Array): void {
    this.memory.read(Number(address), into);
  }

  poke(address: bigint, bytes: Uint8Array): void {
    const at = Number(address);
    this.memory.write(at, bytes);
    this.cpu.forgetCode(at, bytes.length);
  }

  run(onTrap: TrapHandler, _limits?: RunLimits): void {
    this.handler = onTrap;
    this.stopped = false;
    while (!this.stopped) {
      const rip = this.regs.read(Reg.Rip);
      this.regs.rip = undefined;
      this.regs.ripWritten = false;
      this.faultType = 0;
      this.inHook = true;
      const error = this.cpu.start(rip);
      this.inHook = false;
      if (this.stopped) break;
      if (this.faultType !== 0) this.deliverFault();
      else if (error === 10) this.deliver('invalid-opcode');
      else throw new TraplineError('internal', `engine ${this.name} ended with ${error}`);
    }
    this.handler = undefined;
  }

  step(onTrap: TrapHandler): void {
    this.stepping = true;
    this.regs.write(Reg.Rflags, this.regs.read(Reg.Rflags) | TF);
    this.run((trap) => {
      onTrap(trap);
      return 'stop';
    });
    this.regs.write(Reg.Rflags, this.regs.read(Reg.Rflags) & ~TF);
    this.stepping = false;
  }

  saveContext(): CpuContext {
    const fx = new Uint8Array(FX_IMAGE_SIZE);
    this.regs.readFx(fx);
    const regs = Object.values(Reg).map((reg) => this.regs.read(reg));
    const context: Context = { engine: this.name, regs, fx };
    return context;
  }

  loadContext(context: CpuContext): void {
    const { regs, fx } = context as Context;
    for (const reg of Object.values(Reg)) this.regs.write(reg, regs[reg]!);
    this.regs.writeFx(fx);
  }

  capture(): EngineSnapshot {
    const pages = this.memory.ranges().map(({ start, end, prot }) => {
      const bytes = new Uint8Array(end - start);
      this.memory.read(start, bytes);
      return { start, prot, bytes };
    });
    const snapshot: Snapshot = {
      engine: this.name,
      context: this.saveContext() as Context,
      pages,
    };
    return snapshot;
  }

  restore(snapshot: EngineSnapshot): void {
    const { context, pages } = snapshot as Snapshot;
    for (const { start, end } of [...this.memory.ranges()]) this.memory.unmap(start, end - start);
    for (const { start, prot, bytes } of pages) {
      this.memory.map(start, bytes.length, prot);
      this.memory.write(start, bytes);
      this.cpu.forgetCode(start, bytes.length);
    }
    this.loadContext(context);
  }

  dispose(): void {
    this.cpu.close();
  }

  private deliver(kind: TrapKind): void {
    this.trap.kind = kind;
    const answer: Answer = this.handler!(this.trap);
    if (answer === 'stop') {
      this.stopped = true;
      // Unicorn loses a stop when RIP is written in the same hook: the new RIP stays in `regs`.
      if (this.inHook) this.cpu.stop();
    } else if (this.inHook && this.regs.ripWritten) {
      this.cpu.writeRegister(UcReg.rip, u64(this.regs.rip!));
    }
    if (answer === 'go' && this.inHook) {
      this.regs.rip = undefined;
      this.regs.ripWritten = false;
    }
  }

  private onInterrupt(vector: number): void {
    if (vector === 1 && this.stepping) {
      this.stopped = true;
      this.cpu.stop();
    } else if (vector === 1) this.deliver('debug');
    else if (vector === 3) this.deliver('int3');
    else if (vector === 0) this.deliver('divide-error');
    else if (vector === 13) this.deliver('general-protection');
    else {
      this.trap.vector = vector;
      this.deliver('interrupt');
    }
  }

  private onSyscall(): void {
    const next = u64(this.cpu.readRegister(UcReg.rip) + 2n);
    this.regs.write(Reg.Rcx, next);
    this.regs.write(Reg.R11, this.regs.read(Reg.Rflags));
    this.regs.rip = next;
    this.trap.kind = 'syscall';
    const answer = this.handler!(this.trap);
    if (answer === 'stop') {
      this.stopped = true;
      this.cpu.stop();
      return;
    }
    // Unicorn adds the length of the instruction afterwards.
    if (this.regs.ripWritten) this.cpu.writeRegister(UcReg.rip, u64(this.regs.rip! - 2n));
    this.regs.rip = undefined;
    this.regs.ripWritten = false;
  }

  private onFault(type: number, address: bigint): boolean {
    if (this.faultType === 0) {
      this.faultType = type;
      this.faultAddress = address;
    }
    this.cpu.stop();
    return false;
  }

  private deliverFault(): void {
    this.trap.address = this.faultAddress;
    this.trap.access = ACCESS[this.faultType] ?? 'read';
    const at = this.faultAddress < BigInt(USER_END) ? Number(this.faultAddress) : undefined;
    this.trap.mapped = at !== undefined && this.memory.protAt(at) !== undefined;
    this.deliver(at === undefined ? 'general-protection' : 'page-fault');
  }
}

const range = (address: bigint, size: bigint): [number, number] => {
  if ((address | size) % PAGE_SIZE !== 0n || address + size > BigInt(USER_END))
    throw new TraplineError(
      'internal',
      `bad range 0x${address.toString(16)}+0x${size.toString(16)}`,
    );
  return [Number(address), Number(size)];
};
