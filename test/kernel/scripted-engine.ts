import {
  type EngineFactory,
  Reg,
  type RunLimits,
  type Trap,
  type TrapHandler,
} from '../../src/cpu/engine.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';

type RegName = keyof typeof Reg;

/** One trap of a program that is only a list of traps, and what the registers hold when it comes. */
export interface Step extends Partial<Trap> {
  readonly kind: Trap['kind'];
  readonly regs?: Readonly<Partial<Record<RegName, bigint>>>;
}

/** `syscall` with number and arguments; cx and r11 as the instruction leaves them. */
export const syscall = (number: number, ...args: readonly bigint[]): Step => {
  const order: readonly RegName[] = ['Rdi', 'Rsi', 'Rdx', 'R10', 'R8', 'R9'];
  const given = Object.fromEntries(order.map((name, i) => [name, args[i] ?? 0n]));
  return {
    kind: 'syscall',
    regs: { ...given, Rax: BigInt(number), Rcx: AFTER, R11: 0x202n, Rip: AFTER },
  };
};

/** Where ip is after each trap of a {@link syscall}. */
export const AFTER = 0x401002n;

const BLANK: Trap = {
  kind: 'int3',
  vector: 0,
  address: 0n,
  access: 'read',
  mapped: false,
  text: '',
};

/** An engine whose CPU takes the given traps, one after the other, one "instruction" each. */
export class ScriptedEngine extends FakeEngine {
  readonly #steps: Step[];
  /** Times `run` was entered. */
  runs = 0;

  constructor(steps: readonly Step[]) {
    super();
    this.#steps = [...steps];
  }

  /** More traps to take. */
  add(...steps: readonly Step[]): void {
    this.#steps.push(...steps);
  }

  override run(onTrap?: TrapHandler, limits: RunLimits = {}): void {
    this.runs++;
    const end = this.instructionCount + (limits.instructions ?? Number.POSITIVE_INFINITY);
    for (;;) {
      if (this.instructionCount >= end) {
        onTrap?.({ ...BLANK, kind: 'budget' });
        return;
      }
      const step = this.#steps.shift();
      if (step === undefined) throw new Error('the script has ended');
      this.instructionCount++;
      for (const [name, value] of Object.entries(step.regs ?? {}))
        this.regs.write(Reg[name as RegName], value);
      if (onTrap?.({ ...BLANK, ...step }) === 'stop') return;
    }
  }
}

/** A factory that hands out engines made before. */
export const factoryOf = (...engines: readonly ScriptedEngine[]): EngineFactory => {
  const left = [...engines];
  return {
    name: 'scripted',
    capabilities: { avx: false, extensions: [], lacks: [], knownWrong: [] },
    create: () => left.shift()!,
  };
};
