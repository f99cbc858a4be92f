/** Nop sites and what becomes of them: the kernel's self-test group `uprobe_syscall`. */

import { expect } from 'vitest';
import { Prot, Reg } from '../../../src/cpu/engine.ts';
import type { Profile } from '../../../src/uprobes/index.ts';
import { watchTextWrites } from '../../../src/uprobes/testing.ts';
import { hexOf, type Rig, STACK_TOP, TEXT } from '../../uprobes/rig.ts';
import { link } from '../links.ts';
import { counting, DISTINCT, entering, registersOf } from '../registers.ts';
import type { Rows, Trial } from '../row.ts';

const F = 0x401000n;
const BY_HAND = 0x401100n;
const SP = STACK_TOP - 0x100n;
const SELF_TEST = 'self-test uprobe_syscall';

const optimises = ({ optimise }: Profile): boolean => optimise !== 'none';

/** The site once it is a call of the trampoline. */
const expectCall = (rig: Rig, { nop, profile }: Trial): void => {
  const head = profile.optimise === 'nop10' ? '488d642480e8' : 'e8';
  const bytes = Buffer.from(rig.bytes(F, nop.size), 'hex');
  expect(hexOf(bytes).startsWith(head)).toBe(true);
  const target = F + BigInt(nop.size + bytes.readInt32LE(nop.size - 4));
  const vma = rig.mm.space.find(target);
  expect(vma).toMatchObject({
    start: target,
    prot: Prot.Read | Prot.Exec,
    special: { name: '[uprobes-trampoline]' },
  });
};

/** The site after the last detachment: a nop10 keeps its call as operand. */
const expectNop = (rig: Rig, { profile }: Trial): void => {
  const bytes = rig.bytes(F, 5);
  expect(bytes).toBe(profile.optimise === 'nop10' ? '662e0f1f84' : '0f1f440000');
};

const returns = ({ nop }: Trial) => ({ '0x401000': `${nop.hex} c3` });

/** nop; mov $0xdeadbeef,%eax; ret */
const loads = ({ nop }: Trial) => ({ '0x401000': `${nop.hex} b8 ef be ad de c3` });

/** What C5 to C7 ask of a kind of probe; `perCall` callbacks run in one call. */
const lifeOf = (
  trial: Trial,
  attach: (rig: Rig, hits: { count: number }) => () => void,
  perCall: number,
): void => {
  const rig = trial.rig(returns(trial));
  const hits = { count: 0 };
  const detach = attach(rig, hits);
  rig.call(F);
  rig.call(F);
  expect(hits.count).toBe(2 * perCall);
  expectCall(rig, trial);
  const [trampoline] = rig.specials('[uprobes-trampoline]');
  detach();
  expectNop(rig, trial);
  expect(rig.specials('[uprobes-trampoline]')).toEqual([trampoline]);
  // Attached and not hit: an int3; and back.
  const again = attach(rig, hits);
  expect(rig.bytes(F, 1)).toBe('cc');
  again();
  expectNop(rig, trial);
  rig.call(F);
  expect(hits.count).toBe(2 * perCall);
  attach(rig, hits);
  rig.call(F);
  rig.call(F);
  expect(hits.count).toBe(4 * perCall);
  expectCall(rig, trial);
  expect(rig.specials('[uprobes-trampoline]')).toEqual([trampoline]);
};

const attachEntry = (rig: Rig, hits: { count: number }): (() => void) => {
  const handle = rig.attach(F, counting(hits));
  return () => rig.uprobes.unregister(handle);
};

/** What a site holds after each write, given the displacement of its call. */
const STATES = {
  nop5: (rel32: string) => [
    'cc1f440000',
    `cc${rel32}`,
    `e8${rel32}`,
    `cc${rel32}`,
    'cc1f440000',
    '0f1f440000',
  ],
  nop10: (rel32: string) => [
    'cc2e0f1f840000000000',
    `cc8d642480e8${rel32}`,
    `488d642480e8${rel32}`,
    `cc8d642480e8${rel32}`,
    `cc2e0f1f84e8${rel32}`,
    `662e0f1f84e8${rel32}`,
  ],
};

const rows: Rows = [
  {
    id: 'C1',
    what: 'a return probe leaves every register and the flags alone, and sees them',
    from: SELF_TEST,
    run(trial) {
      const rig = trial.rig(loads(trial));
      let seen: Record<number, bigint> = {};
      rig.attach(F, {
        return: () => {
          seen = registersOf(rig);
        },
      });
      for (let i = 0; i < 3; i++) {
        expect(rig.call(F, DISTINCT)).toEqual({ kind: 'returned' });
        const after = { ...DISTINCT, [Reg.Rax]: 0xdeadbeefn, [Reg.Rsp]: SP + 8n };
        expect(registersOf(rig)).toEqual(after);
        expect(seen).toEqual(after);
      }
    },
  },
  {
    id: 'C2',
    what: 'an optimised entry probe leaves every register and the flags alone, and sees them',
    from: SELF_TEST,
    applies: optimises,
    run(trial) {
      const rig = trial.rig(loads(trial));
      let via = '';
      let seen: Record<number, bigint> = {};
      rig.attach(
        F,
        entering((hit) => {
          via = hit.via;
          seen = registersOf(rig);
        }),
      );
      rig.call(F, DISTINCT);
      rig.call(F, DISTINCT);
      expect(via).toBe('uprobe-syscall');
      expect(seen).toEqual({ ...DISTINCT, [Reg.Rsp]: SP });
      expect(registersOf(rig)).toEqual({
        ...DISTINCT,
        [Reg.Rax]: 0xdeadbeefn,
        [Reg.Rsp]: SP + 8n,
      });
    },
  },
  {
    id: 'C3',
    what: 'handlers change cx at entry, ax and r11 at return; nothing else changes',
    from: SELF_TEST,
    run(trial) {
      const rig = trial.rig(loads(trial));
      const changed = {
        [Reg.Rcx]: 0x87654321feebdaedn,
        [Reg.Rax]: 0x12345678deadbeefn,
        [Reg.R11]: 0xffffffffffffffffn,
      };
      rig.attach(F, {
        ...entering(({ regs }) => regs.write(Reg.Rcx, changed[Reg.Rcx])),
        return: ({ regs }) => {
          regs.write(Reg.Rax, changed[Reg.Rax]);
          regs.write(Reg.R11, changed[Reg.R11]);
        },
      });
      for (let i = 0; i < 2; i++) {
        rig.call(F, DISTINCT);
        expect(registersOf(rig)).toEqual({ ...DISTINCT, ...changed, [Reg.Rsp]: SP + 8n });
      }
    },
  },
  {
    id: 'C5',
    what: 'two hits: the site is a call of a trampoline; detached it is a nop, the trampoline stays',
    from: `${SELF_TEST}; bytes: Linux 6.18.44 for nop5`,
    applies: optimises,
    run(trial) {
      const rig = trial.rig(returns(trial));
      const hits = { count: 0 };
      const detach = attachEntry(rig, hits);
      rig.call(F);
      rig.call(F);
      expect(hits.count).toBe(2);
      expectCall(rig, trial);
      detach();
      expectNop(rig, trial);
      expect(rig.specials('[uprobes-trampoline]').length).toBe(1);
    },
  },
  {
    id: 'C5b',
    what: 'every state of the site’s bytes on the way to a call and back; a task that comes by meets an ordinary hit',
    from: 'order of the writes in the kernel; ends: Linux 6.18.44 (nop5)',
    applies: optimises,
    run(trial) {
      const { nop, profile } = trial;
      const rig = trial.rig(returns(trial));
      const states: string[] = [];
      watchTextWrites(rig.uprobes, ({ site }) => void states.push(rig.bytes(site, nop.size)));
      const detach = attachEntry(rig, { count: 0 });
      rig.call(F);
      detach();
      // rel32 = trampoline - end of the call; the trampoline is the free page next to the text.
      const rel32 = Buffer.alloc(4);
      rel32.writeInt32LE(Number(TEXT - 0x1000n - F) - nop.size);
      expect(states).toEqual(STATES[profile.optimise === 'nop10' ? 'nop10' : 'nop5'](hexOf(rel32)));
      // Whoever comes while byte 0 is an int3 is a hit that ends behind the nop.
      for (const state of states.filter((bytes) => bytes.startsWith('cc'))) {
        const other = trial.rig(loads(trial));
        const hits = { count: 0 };
        other.attach(F, counting(hits));
        other.mm.space.writeText(F, Buffer.from(state, 'hex'));
        expect(other.call(F)).toEqual({ kind: 'returned' });
        expect([hits.count, other.reg(Reg.Rax)]).toEqual([1, 0xdeadbeefn]);
      }
    },
  },
  {
    id: 'C6',
    what: 'attached again but not hit: an int3; detached: a nop, and no hit counts',
    from: SELF_TEST,
    applies: optimises,
    run(trial) {
      const rig = trial.rig(returns(trial));
      const hits = { count: 0 };
      const detach = attachEntry(rig, hits);
      rig.call(F);
      detach();
      const again = attachEntry(rig, hits);
      expect(rig.bytes(F, 1)).toBe('cc');
      again();
      expectNop(rig, trial);
      rig.call(F);
      expect(hits.count).toBe(1);
    },
  },
  {
    id: 'C7',
    what: 'attached a third time and hit twice: optimised again, by the same trampoline',
    from: SELF_TEST,
    applies: optimises,
    run: (trial) => lifeOf(trial, attachEntry, 1),
  },
  {
    id: 'C8',
    what: 'C5 to C7 with a return probe',
    from: SELF_TEST,
    applies: optimises,
    run: (trial) =>
      lifeOf(
        trial,
        (rig, hits) => {
          const handle = rig.attach(F, { return: () => void hits.count++ });
          return () => rig.uprobes.unregister(handle);
        },
        1,
      ),
  },
  {
    id: 'C9',
    what: 'C5 to C8 through a multi link',
    from: SELF_TEST,
    applies: optimises,
    run: (trial) => {
      for (const kind of ['entry', 'return'] as const)
        lifeOf(
          trial,
          (rig, hits) => {
            const made = link(rig, [F - TEXT], { [kind]: () => void hits.count++ });
            return () => made.detach();
          },
          1,
        );
    },
  },
  {
    id: 'C10',
    what: 'C5 to C7 with a session: entry and return count',
    from: SELF_TEST,
    applies: optimises,
    run: (trial) =>
      lifeOf(
        trial,
        (rig, hits) => {
          const handle = rig.attach(F, { ...counting(hits), return: () => void hits.count++ });
          return () => rig.uprobes.unregister(handle);
        },
        2,
      ),
  },
  {
    id: 'C13',
    what: 'live data at sp-8, -16, -24 and -128 over a probed nop: overwritten by optimised nop5 alone',
    from: `${SELF_TEST} (nop10); Linux 6.18.44 for nop5`,
    run(trial) {
      const { nop, profile } = trial;
      // mov of di, si, dx, r8 to -8, -16, -24 and -128(%rsp); nop; and back; ret
      const store = '48 89 7c 24 f8 48 89 74 24 f0 48 89 54 24 e8 4c 89 44 24 80';
      const load = '48 8b 7c 24 f8 48 8b 74 24 f0 48 8b 54 24 e8 4c 8b 44 24 80';
      const rig = trial.rig({ '0x401000': `${store} ${nop.hex} ${load} c3` });
      const live = [Reg.Rdi, Reg.Rsi, Reg.Rdx, Reg.R8];
      const kept = live.map((reg) => DISTINCT[reg]);
      const site = F + 20n;
      rig.attach(site, counting({ count: 0 }));
      for (let run = 0; run < 10; run++) {
        rig.call(F, DISTINCT);
        // The call pushes its return address, the trampoline cx and r11.
        const clobbered = [site + 5n, DISTINCT[Reg.Rcx], DISTINCT[Reg.R11], DISTINCT[Reg.R8]];
        const isClobbered = profile.optimise === 'nop5' && run > 0;
        expect(live.map((reg) => rig.reg(reg))).toEqual(isClobbered ? clobbered : kept);
      }
    },
  },
  {
    id: 'C16',
    what: 'system call 336 outside a trampoline: ENXIO, EPROTO, or ENOSYS where there is none',
    from: `${SELF_TEST}; Linux 6.18.44`,
    run(trial) {
      const rig = trial.rig({ '0x401100': 'b8 50 01 00 00 0f 05 c3' }); // mov $336,%eax; syscall; ret
      const errno = { none: 38n, nop5: 6n, nop10: 71n }[trial.profile.optimise];
      expect(rig.call(BY_HAND)).toEqual({ kind: 'returned' });
      expect(BigInt.asIntN(64, rig.reg(Reg.Rax))).toBe(-errno);
    },
  },
  {
    id: 'C84',
    what: 'a handler moves sp on an optimised site: its registers hold, the trampoline’s tail is skipped',
    from: 'the order of system call 336',
    applies: optimises,
    run(trial) {
      const rig = trial.rig(returns(trial));
      const moved = SP - 0x40n;
      let move = false;
      rig.attach(
        F,
        entering(({ regs }) => {
          if (!move) return;
          regs.write(Reg.Rsp, moved);
          regs.write(Reg.Rcx, 0x77n);
        }),
      );
      rig.call(F);
      rig.mm.space.writeU64(moved, 0x700000n);
      move = true;
      expect(rig.call(F, DISTINCT)).toEqual({ kind: 'returned' });
      expect(registersOf(rig)).toEqual({
        ...DISTINCT,
        [Reg.Rcx]: 0x77n,
        [Reg.Rsp]: moved + 8n,
      });
    },
  },
  {
    id: 'C86',
    what: 'sites 5 GiB apart have a trampoline each, within 2 GiB of its call',
    from: 'the reach of call rel32 (manual)',
    applies: optimises,
    run(trial) {
      const rig = trial.rig(returns(trial));
      const far = TEXT + 5n * (1n << 30n);
      rig.map(far, Prot.Read | Prot.Exec);
      rig.attach(F, counting({ count: 0 }));
      const sites = [F, F - TEXT + far];
      for (const site of [...sites, ...sites]) expect(rig.call(site)).toEqual({ kind: 'returned' });
      const trampolines = rig.specials('[uprobes-trampoline]');
      expect(trampolines.length).toBe(2);
      sites.forEach((site, index) => {
        const distance = (trampolines[index] ?? 0n) - site;
        expect(distance >= -(1n << 31n) && distance < 1n << 31n).toBe(true);
      });
      expect(rig.uprobes.counters).toMatchObject({ int3Hits: 2, optimisedHits: 2 });
    },
  },
  {
    id: 'C86b',
    what: 'a trampoline just out of reach of a call gets a companion, one just within reach is used',
    from: 'the reach of call rel32 (manual)',
    applies: optimises,
    run(trial) {
      const reach = 1n << 31n;
      const trampoline = TEXT - 0x1000n;
      // The end of the far call is 2^31 - 0xefc or 2^31 + 0x104 above the trampoline.
      for (const [beyond, trampolines] of [
        [-0xefcn, 1],
        [0x104n, 2],
      ] as const) {
        const site = 0x401104n - BigInt(trial.nop.size);
        const rig = trial.rig({ [`0x${site.toString(16)}`]: `${trial.nop.hex} c3` });
        const far = trampoline + reach + beyond - 0x1104n;
        rig.map(far, Prot.Read | Prot.Exec);
        rig.attach(site, counting({ count: 0 }));
        for (const at of [site, site, far + site - TEXT, far + site - TEXT])
          expect(rig.call(at)).toEqual({ kind: 'returned' });
        expect(rig.specials('[uprobes-trampoline]').length).toBe(trampolines);
        expect(rig.uprobes.counters.optimisedHits).toBe(2);
      }
    },
  },
  {
    id: 'C87',
    what: 'no free page within reach: an int3 for the uprobe’s life, also once there is room',
    from: 'Linux 6.18.44 (nop5)',
    applies: optimises,
    run(trial) {
      const rig = trial.rig(returns(trial));
      const held = fillAround(rig);
      const handle = rig.attach(F, counting({ count: 0 }));
      rig.call(F);
      expect(rig.bytes(F, 1)).toBe('cc');
      rig.mm.space.unmap(held, 0x10000n);
      rig.call(F);
      expect(rig.bytes(F, 1)).toBe('cc');
      expect(rig.specials('[uprobes-trampoline]')).toEqual([]);
      expect(rig.uprobes.counters.int3Hits).toBe(2);
      // The mark is the uprobe's: a new one tries again.
      rig.uprobes.unregister(handle);
      rig.attach(F, counting({ count: 0 }));
      rig.call(F);
      expectCall(rig, trial);
    },
  },
  {
    id: 'C88',
    what: 'a site that crosses a page is not optimised; as a nop10 it is refused (524)',
    from: 'Linux 6.18.44 (nop5); the order of the analysis (nop10)',
    applies: optimises,
    run(trial) {
      const { nop } = trial;
      // The last place in a page where the nop fits, and the first where it does not.
      const fits = 0x402000n - BigInt(nop.size);
      const crosses = 0x404001n - BigInt(nop.size);
      const rig = trial.rig({
        [`0x${fits.toString(16)}`]: `${nop.hex} c3`,
        [`0x${crosses.toString(16)}`]: `${nop.hex} c3`,
      });
      const entry = counting({ count: 0 });
      rig.attach(fits, entry);
      rig.call(fits);
      expect(rig.bytes(fits, 1)).toBe(nop.size === 10 ? '48' : 'e8');
      const answer = rig.uprobes.register(rig.file, crosses - TEXT, entry);
      if (nop.size === 10) {
        expect(answer).toBe('ENOTSUPP');
        return;
      }
      expect(answer).toBeTypeOf('object');
      rig.call(crosses);
      expect(rig.bytes(crosses, 1)).toBe('cc');
    },
  },
  {
    id: 'C4',
    what: 'the program makes the trampoline’s system call itself: SIGILL, no return handler',
    from: `${SELF_TEST}; Linux 6.18.44`,
    applies: ({ uretTrampoline }) => uretTrampoline === 'syscall',
    run(trial) {
      // push %rax; push %rcx; push %r11; mov $335,%eax; syscall
      const rig = trial.rig({ '0x401000': '50 51 41 53 b8 4f 01 00 00 0f 05' });
      const hits = { count: 0 };
      rig.attach(F, { return: () => void hits.count++ });
      expect(rig.call(F)).toMatchObject({ kind: 'signal', signal: 4, code: 128 });
      expect(hits.count).toBe(0);
    },
  },
  {
    id: 'C14',
    what: 'fork after optimising: the child’s own site',
    later: 'fork',
  },
];

/** Leaves no page free within reach of the site; returns the start of a piece of at least 64 KiB. */
const fillAround = (rig: Rig): bigint => {
  const { space } = rig.mm;
  let first: bigint | null = null;
  for (let at = 0x10000n; at < F + (1n << 31n) + 0x2000n; ) {
    const next = space.findOrNext(at);
    const end = next?.start ?? F + (1n << 31n) + 0x2000n;
    if (end > at) {
      space.map({ address: at, placement: 'only', size: end - at, prot: Prot.None });
      first ??= at;
    }
    at = next?.end ?? end;
  }
  return first ?? 0n;
};

export default rows;
