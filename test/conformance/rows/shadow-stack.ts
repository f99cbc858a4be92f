/** A CPU with a shadow stack. No kernel of ours could be asked: the rules of the sources, and the manual's. */
import { expect } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { counting } from '../registers.ts';
import { isRow, type Rows } from '../row.ts';
import optimised from './optimised.ts';
import returns from './returns.ts';

const F = 0x401000n;
const RETURNED = { kind: 'returned' };
/** SIGSEGV with SEGV_CPERR: a return that the shadow stack contradicts. */
const CONTROL_PROTECTION = { kind: 'signal', signal: 11, code: 10, trapNumber: 21n };

const rows: Rows = [
  {
    id: 'C17',
    what: 'C1 to C10, recursion (C79), tail calls (C80) and `ret $16` (C85) on a CPU with a shadow stack',
    from: 'self-test uprobe_syscall (shadow stack)',
    applies: ({ uretShadowStack }) => uretShadowStack,
    async run(trial) {
      const group = [...optimised, ...returns]
        .filter(isRow)
        .filter(({ id }) => /^C([1-9]b?|10|79|80|85)$/.test(id));
      for (const row of group)
        if (row.applies?.(trial.profile) ?? true) await row.run(trial.withShadowStack());
    },
  },
  {
    id: 'C50',
    what: 'a return probe: the function’s own ret passes since 6.11, and is SIGSEGV (SEGV_CPERR) before',
    from: 'self-test of shadow stacks',
    run(trial) {
      const { uretShadowStack } = trial.profile;
      const rig = trial.withShadowStack().rig({ '0x401000': '90 b8 05 00 00 00 c3' });
      let returns = 0;
      rig.attach(F, { return: () => void returns++ });
      const end = rig.call(F);
      if (uretShadowStack) expect(end).toEqual(RETURNED);
      else expect(end).toMatchObject({ ...CONTROL_PROTECTION, ip: F + 6n });
      expect([rig.reg(Reg.Rax) === 5n, returns]).toEqual(uretShadowStack ? [true, 1] : [false, 0]);
    },
  },
  {
    id: 'C51',
    what: 'a probe on call rel32: its callee returns since 7.1.5, and is SIGSEGV (SEGV_CPERR) before',
    from: 'the change’s description (July 2026)',
    run(trial) {
      const rig = trial.withShadowStack().rig({
        '0x401000': 'e8 fb 00 00 00 c3',
        '0x401100': 'b8 05 00 00 00 c3',
      });
      rig.attach(F, counting({ count: 0 }));
      const end = rig.call(F);
      if (trial.profile.callEmulationShadowStack) expect(end).toEqual(RETURNED);
      else expect(end).toMatchObject({ ...CONTROL_PROTECTION, ip: 0x401105n });
    },
  },
  {
    id: 'C52',
    what: 'a probe on call *%rax, which is stepped: as C51',
    from: 'the change’s description (July 2026)',
    run(trial) {
      const rig = trial.withShadowStack().rig({
        '0x401000': 'ff d0 c3',
        '0x401100': 'b8 05 00 00 00 c3',
      });
      rig.attach(F, counting({ count: 0 }));
      const end = rig.call(F, { [Reg.Rax]: 0x401100n });
      if (trial.profile.callEmulationShadowStack) expect(end).toEqual(RETURNED);
      else expect(end).toMatchObject({ ...CONTROL_PROTECTION, ip: 0x401105n });
    },
  },
];

export default rows;
