/** Return probes: depth, tail calls, longjmp, `ret imm16`. */
import { expect } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { END, STACK_TOP } from '../../uprobes/rig.ts';
import { counting } from '../registers.ts';
import type { Rows } from '../row.ts';

const A = 0x401000n;
const B = 0x401100n;
const C = 0x401200n;
const SP = STACK_TOP - 0x100n;
const RETURNED = { kind: 'returned' };

const rows: Rows = [
  {
    id: 'C79',
    what: 'a function 70 deep in itself: 70 entries, 64 returns; the next call is seen again',
    from: 'Linux 6.18.44',
    run(trial) {
      // push %rbx; dec %edi; jz 1f; call A; 1: pop %rbx; ret
      const rig = trial.rig({ '0x401000': '53 ff cf 74 05 e8 f6 ff ff ff 5b c3' });
      const entries = { count: 0 };
      let returns = 0;
      const handle = rig.attach(A, { ...counting(entries), return: () => void returns++ });
      expect(rig.call(A, { [Reg.Rdi]: 70n })).toEqual(RETURNED);
      expect([entries.count, returns, handle.missed]).toEqual([70, 64, 6]);
      expect(rig.call(A, { [Reg.Rdi]: 1n })).toEqual(RETURNED);
      expect([entries.count, returns]).toEqual([71, 65]);
    },
  },
  {
    id: 'C80',
    what: 'A jumps to B jumps to C, all return-probed: one trampoline hit, C B A, one address',
    from: 'Linux 6.18.44',
    run(trial) {
      const rig = trial.rig({
        '0x401000': '90 e9 fa 00 00 00', // nop; jmp B
        '0x401100': '90 e9 fa 00 00 00', // nop; jmp C
        '0x401200': '55 5d c3', // push %rbp; pop %rbp; ret
      });
      const seen: [string, bigint, bigint][] = [];
      for (const [name, at] of Object.entries({ A, B, C }))
        rig.attach(at, {
          return: ({ regs, site }) => void seen.push([name, site, regs.read(Reg.Rip)]),
        });
      expect(rig.call(A)).toEqual(RETURNED);
      expect(seen).toEqual([
        ['C', C, END],
        ['B', B, END],
        ['A', A, END],
      ]);
      expect(rig.uprobes.counters.returnHits).toBe(1);
    },
  },
  {
    id: 'C81',
    what: 'setjmp, f1 calls f2, longjmp: their return handlers never run, that of the next function does',
    from: 'Linux 6.18.44',
    run(trial) {
      const rig = trial.rig({
        '0x401000': '90 e8 fa 00 00 00 0f 0b', // f1: nop; call f2; ud2
        '0x401100': '90 4c 89 e4 41 ff e5', // f2: nop; mov %r12,%rsp; jmp *%r13
        '0x401200': '90 c3', // g
        // setjmp of a kind: mov %rsp,%r12; lea 1f(%rip),%r13; call f1; ud2; 1: call g; ret
        '0x401300': '49 89 e4 4c 8d 2d 07 00 00 00 e8 f1 fc ff ff 0f 0b e8 ea fe ff ff c3',
      });
      const list: string[] = [];
      rig.trace(A, 'f1', list, 'both');
      rig.trace(B, 'f2', list, 'both');
      rig.trace(C, 'g', list, 'both');
      expect(rig.call(0x401300n)).toEqual(RETURNED);
      expect(list).toEqual(['f1', 'f2', 'g', 'g:ret']);
    },
  },
  {
    id: 'C82',
    what: 'fork in a return-probed function: parent and child both return',
    later: 'fork',
  },
  {
    id: 'C85',
    what: 'a function that returns by `ret $16`: the handler and the caller see sp as it left it',
    from: 'RET imm16 (manual)',
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c2 10 00' });
      let seen = 0n;
      rig.attach(A, {
        return: ({ regs }) => {
          seen = regs.read(Reg.Rsp);
        },
      });
      expect(rig.call(A)).toEqual(RETURNED);
      expect([seen, rig.reg(Reg.Rsp)]).toEqual([SP + 8n + 16n, SP + 8n + 16n]);
    },
  },
];

export default rows;
