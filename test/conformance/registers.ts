import { Reg } from '../../src/cpu/engine.ts';
import { HandlerResult, type Hit } from '../../src/uprobes/index.ts';
import type { Rig } from '../uprobes/rig.ts';

const GENERAL = Object.values(Reg).filter((reg) => reg <= Reg.R15);

/** A different value in every general register but sp; flags with CF, PF, ZF, SF and OF. */
export const DISTINCT: Readonly<Record<number, bigint>> = {
  ...Object.fromEntries(
    GENERAL.filter((reg) => reg !== Reg.Rsp).map((reg) => [reg, 0x1111_0000n + BigInt(reg)]),
  ),
  [Reg.Rflags]: 0xac7n,
};

/** All general registers and flags, by index. */
export const registersOf = (rig: Rig): Record<number, bigint> =>
  Object.fromEntries([...GENERAL, Reg.Rflags].map((reg) => [reg, rig.reg(reg)]));

/** An entry handler that counts. */
export const counting = (hits: { count: number }) => ({
  entry: (): HandlerResult => {
    hits.count++;
    return HandlerResult.Continue;
  },
});

/** An entry handler that does something and lets the program go on. */
export const entering = (act: (hit: Hit) => void) => ({
  entry: (hit: Hit): HandlerResult => {
    act(hit);
    return HandlerResult.Continue;
  },
});
