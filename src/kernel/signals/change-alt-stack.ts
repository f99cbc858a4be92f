import { MINSIGSTKSZ, Ss } from '../../abi/signals.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../task.ts';
import type { AltStackState } from './alt-stack.ts';

/** The setting half of sigaltstack(2) (do_sigaltstack). */
export const changeAltStack = (
  { altStack, regs }: Task,
  wanted: AltStackState,
): 'EPERM' | 'EINVAL' | 'ENOMEM' | null => {
  if (altStack.isActive(regs.read(Reg.Rsp))) return 'EPERM';
  const mode = wanted.flags & ~Ss.AUTODISARM;
  if (mode !== Ss.DISABLE && mode !== Ss.ONSTACK && mode !== 0) return 'EINVAL';
  const { sp, size, flags } = altStack.capture();
  if (wanted.sp === sp && wanted.size === size && wanted.flags === flags) return null;
  if (mode === Ss.DISABLE) altStack.restore({ sp: 0n, size: 0n, flags: wanted.flags });
  else if (wanted.size < BigInt(MINSIGSTKSZ)) return 'ENOMEM';
  else altStack.restore(wanted);
  return null;
};
