import { type Engine, FX_IMAGE_SIZE, Prot, Reg, type TrapKind } from '../../../src/cpu/engine.ts';
import {
  type Case,
  type End,
  NATIVE_CODE,
  NATIVE_DATA,
  type Outcome,
  WINDOW,
  WINDOW_SIZE,
} from './case.ts';

/** What the kernel makes of each trap (Linux, arch/x86: signals by vector). */
const ENDS: Readonly<Partial<Record<TrapKind, End>>> = {
  int3: 'int3',
  debug: 'int3',
  'page-fault': 'segv',
  'general-protection': 'segv',
  'stack-fault': 'bus',
  'invalid-opcode': 'ill',
  'divide-error': 'fpe',
  'fpu-error': 'fpe',
  'simd-error': 'fpe',
};

/** Instructions no case should need; its end is then `other`. */
const LIMIT = 10_000;

/** An engine as the other side of a comparison with the machine's CPU. */
export class EngineRunner {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.map(NATIVE_CODE, 0x1000n, Prot.Read | Prot.Write | Prot.Exec);
    engine.map(NATIVE_DATA, 0x2000n, Prot.Read | Prot.Write);
    engine.map(NATIVE_DATA + 0x2000n, 0x1000n, Prot.Read);
  }

  run({ code, state }: Case): Outcome {
    const engine = this.#engine;
    engine.poke(NATIVE_CODE, padded(code));
    engine.poke(NATIVE_DATA, new Uint8Array(0x2000));
    engine.poke(WINDOW, state.window);
    for (const [reg, value] of state.gpr.entries()) engine.regs.write(reg as Reg, value);
    engine.regs.write(Reg.Rflags, state.flags);
    engine.regs.writeFx(state.fx);
    engine.regs.write(Reg.Rip, NATIVE_CODE);
    let end: End = 'other';
    let address = 0n;
    engine.run(
      (trap) => {
        end = ENDS[trap.kind] ?? 'other';
        if (trap.kind === 'page-fault') address = trap.address;
        return 'stop';
      },
      { instructions: LIMIT },
    );
    return { end, address, ...this.#state() };
  }

  #state(): Omit<Outcome, 'end' | 'address'> {
    const { regs } = this.#engine;
    const fx = new Uint8Array(FX_IMAGE_SIZE);
    regs.readFx(fx);
    const window = new Uint8Array(WINDOW_SIZE);
    this.#engine.peek(WINDOW, window);
    return {
      gpr: Array.from({ length: 16 }, (_, i) => regs.read(i as Reg)),
      flags: regs.read(Reg.Rflags),
      rip: BigInt.asUintN(64, regs.read(Reg.Rip) - NATIVE_CODE),
      fx,
      window,
    };
  }
}

const padded = (code: Uint8Array): Uint8Array => {
  const page = new Uint8Array(128).fill(0xcc);
  page.set(code);
  return page;
};
