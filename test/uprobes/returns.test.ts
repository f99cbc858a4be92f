/** Return probes (spec section 4). Expected lists follow from the rules cited, counts from `gtests.txt` of 6.18.44. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EngineFactory, Reg } from '../../src/cpu/engine.ts';
import { HandlerResult, PROFILE_NAMES, type ProfileName } from '../../src/uprobes/index.ts';
import { engines } from '../helpers/engines.ts';
import { END, type Ending, type Rig, type RigOptions, STACK_TOP, withRig } from './rig.ts';

const NOP_FUNCTION = 0x401000n;
const A = 0x401100n;
const B = 0x401200n;
const C = 0x401300n;
const RECURSE = 0x401400n;
const RET_16 = 0x401500n;
const LEAVES = 0x401600n;
const CALLS_LEAVES = 0x401700n;
const TRAMPOLINE_BY_HAND = 0x401800n;
const READS_RETURN = 0x401900n;
const PUSHES = 0x401a00n;

const TEXT_BYTES: Readonly<Record<string, string>> = {
  // nop; mov $0x1234,%eax; ret
  '0x401000': '90 b8 34 12 00 00 c3',
  // A: nop; jmp B    B: nop; jmp C    C: push %rbp; pop %rbp; mov $7,%eax; ret
  '0x401100': '90 e9 fa 00 00 00',
  '0x401200': '90 e9 fa 00 00 00',
  '0x401300': '55 5d b8 07 00 00 00 c3',
  // push %rbx; dec %edi; jz +5; call RECURSE; pop %rbx; ret
  '0x401400': '53 ff cf 74 05 e8 f6 ff ff ff 5b c3',
  // nop; ret $16
  '0x401500': '90 c2 10 00',
  // longjmp: nop; mov %r12,%rsp; jmp *%r13
  '0x401600': '90 4c 89 e4 41 ff e5',
  // nop; call LEAVES; ud2
  '0x401700': '90 e8 fa fe ff ff 0f 0b',
  // mov $335,%eax; syscall; ret
  '0x401800': 'b8 4f 01 00 00 0f 05 c3',
  // nop; mov (%rsp),%rax; ret
  '0x401900': '90 48 8b 04 24 c3',
  // push %rdi; jmp C
  '0x401a00': '57 e9 fa f8 ff ff',
};

const SIGILL = 4;
const SI_KERNEL = 128;

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory;
    beforeAll(async () => {
      if (engine.missing === null) factory = await engine.load();
    });
    beforeEach((ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
    });

    const on = (profile: ProfileName, body: (rig: Rig) => void, options?: Partial<RigOptions>) =>
      withRig({ factory, profile, text: TEXT_BYTES, ...options }, body);

    const returned: Ending = { kind: 'returned' };

    it.each(PROFILE_NAMES)('%s: entry and return, registers untouched', (profile) => {
      on(profile, (rig) => {
        const seen: bigint[] = [];
        rig.attach(NOP_FUNCTION, {
          return: ({ regs, site }) =>
            void seen.push(regs.read(Reg.Rip), regs.read(Reg.Rax), regs.read(Reg.Rsp), site),
        });
        const before = { [Reg.Rcx]: 0x1111n, [Reg.R11]: 0x2222n, [Reg.Rdx]: 0x3333n };
        expect(rig.call(NOP_FUNCTION, before)).toEqual(returned);
        // ip = the original return address, sp = after the ret (entry sp + 8).
        expect(seen).toEqual([END, 0x1234n, STACK_TOP - 0x100n + 8n, NOP_FUNCTION]);
        expect([rig.reg(Reg.Rcx), rig.reg(Reg.R11), rig.reg(Reg.Rdx)]).toEqual([
          0x1111n,
          0x2222n,
          0x3333n,
        ]);
        expect([rig.reg(Reg.Rax), rig.reg(Reg.Rsp)]).toEqual([0x1234n, STACK_TOP - 0x100n + 8n]);
      });
    });

    it('the trampoline is the profile’s (spec 4.5; 6.18.44: dump.txt)', () => {
      const bytesOf: Partial<Record<ProfileName, string>> = {
        'k6.10': 'cc00',
        'k6.11': '50514153 48c7c04f010000 0f05 415b59c3 00',
        'k6.18': '50514153 48c7c04f010000 0f05 415b59c3 cc',
      };
      for (const [profile, bytes] of Object.entries(bytesOf))
        on(profile as ProfileName, (rig) => {
          rig.trace(NOP_FUNCTION, 'f', [], 'return');
          rig.call(NOP_FUNCTION);
          const [area = 0n] = rig.specials('[uprobes]');
          const hex = bytes.replaceAll(' ', '');
          expect(rig.specialBytes(area, hex.length / 2)).toBe(hex);
        });
    });

    it('the handler’s view of `via` names the way in', () => {
      const ways: [ProfileName, string][] = [
        ['k6.10', 'uretprobe-int3'],
        ['k6.11', 'uretprobe-syscall'],
      ];
      for (const [profile, way] of ways)
        on(profile, (rig) => {
          const seen: string[] = [];
          rig.attach(NOP_FUNCTION, { return: ({ via }) => void seen.push(via) });
          rig.call(NOP_FUNCTION);
          expect(seen).toEqual([way]);
        });
    });

    it('handlers change ax, cx, r11, ip and sp at return (C3)', () => {
      on('k6.18', (rig) => {
        rig.attach(NOP_FUNCTION, {
          return: ({ regs }) => {
            regs.write(Reg.Rax, 0x12345678deadbeefn);
            regs.write(Reg.R11, 0xffffffffffffffffn);
            regs.write(Reg.Rcx, 0x87654321feebdaedn);
          },
        });
        rig.call(NOP_FUNCTION);
        expect([rig.reg(Reg.Rax), rig.reg(Reg.R11), rig.reg(Reg.Rcx)]).toEqual([
          0x12345678deadbeefn,
          0xffffffffffffffffn,
          0x87654321feebdaedn,
        ]);
      });
      on('k6.18', (rig) => {
        rig.mm.space.writeU64(STACK_TOP - 0x40n, END);
        // sp is changed: the trampoline's tail is skipped, everything is as in the registers.
        rig.attach(NOP_FUNCTION, {
          return: ({ regs }) => {
            regs.write(Reg.Rsp, STACK_TOP - 0x40n);
            regs.write(Reg.Rcx, 5n);
          },
        });
        rig.call(NOP_FUNCTION);
        expect([rig.reg(Reg.Rsp), rig.reg(Reg.Rcx)]).toEqual([STACK_TOP - 0x40n, 5n]);
      });
    });

    it('a chain of tail calls returns once, newest first, to one address (C80)', () => {
      for (const profile of PROFILE_NAMES)
        on(profile, (rig) => {
          const list: string[] = [];
          const addresses: bigint[] = [];
          rig.trace(A, 'A', list, 'both');
          rig.trace(B, 'B', list, 'both');
          rig.trace(C, 'C', list, 'both');
          rig.attach(C, { return: ({ regs }) => void addresses.push(regs.read(Reg.Rip)) });
          expect(rig.call(A)).toEqual(returned);
          expect(list).toEqual(['A', 'B', 'C', 'C:ret', 'B:ret', 'A:ret']);
          expect(addresses).toEqual([END]);
          expect(rig.uprobes.counters.returnHits).toBe(1);
        });
    });

    it('64 pending returns at most (gtests.txt: 65 nested calls: entry=65 ret=64)', () => {
      for (const [depth, returns] of [
        [63, 63],
        [64, 64],
        [65, 64],
        [100, 64],
      ] as const)
        on('k6.18', (rig) => {
          const list: string[] = [];
          const handle = rig.trace(RECURSE, 'f', list, 'both');
          expect(rig.call(RECURSE, { [Reg.Rdi]: BigInt(depth) })).toEqual(returned);
          expect(list.filter((event) => event === 'f').length).toBe(depth);
          expect(list.filter((event) => event === 'f:ret').length).toBe(returns);
          expect(handle.missed).toBe(depth - returns);
        });
    });

    it('longjmp drops the frames it leaves (C81)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.trace(CALLS_LEAVES, 'outer', list, 'both');
        rig.trace(LEAVES, 'inner', list, 'both');
        rig.trace(NOP_FUNCTION, 'g', list, 'both');
        const jump = { [Reg.R12]: STACK_TOP - 0x80n, [Reg.R13]: END };
        expect(rig.call(CALLS_LEAVES, jump)).toEqual(returned);
        expect(rig.call(NOP_FUNCTION)).toEqual(returned);
        expect(list).toEqual(['outer', 'inner', 'g', 'g:ret']);
        // The stack of `g` lies no deeper than theirs: arming it threw both away.
        expect(rig.call(NOP_FUNCTION)).toEqual(returned);
        expect(list.slice(-2)).toEqual(['g', 'g:ret']);
      });
    });

    it('longjmp out of 64 pending returns: no return is seen afterwards (gtests.txt, g_longjmp_deep)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.trace(NOP_FUNCTION, 'g', list, 'return');
        const deep = STACK_TOP - 0x8000n;
        // Seventy calls that never return, each deeper.
        rig.trace(LEAVES, 'leaves', [], 'return');
        for (let i = 0; i < 70; i++)
          rig.call(LEAVES, {
            [Reg.Rsp]: deep - BigInt(i * 16),
            [Reg.R12]: STACK_TOP - 0x80n,
            [Reg.R13]: END,
          });
        expect(rig.call(NOP_FUNCTION)).toEqual(returned);
        expect(list).toEqual([]);
      });
    });

    it('`ret imm16`: sp right after it (C85)', () => {
      on('k7.3', (rig) => {
        const seen: bigint[] = [];
        rig.attach(RET_16, { return: ({ regs }) => void seen.push(regs.read(Reg.Rsp)) });
        const sp = STACK_TOP - 0x200n;
        expect(rig.call(RET_16, { [Reg.Rsp]: sp })).toEqual(returned);
        expect(seen).toEqual([sp + 8n + 16n]);
      });
    });

    it('sessions: the answer decides, cookies pair up in recursion (C30, C32)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        let level = 0n;
        rig.attach(RECURSE, {
          entry: ({ cookie }) => {
            level++;
            if (cookie !== null) cookie.value = level;
            return level % 2n === 0n ? HandlerResult.Ignore : HandlerResult.Continue;
          },
          return: ({ cookie }) => void list.push(String(cookie?.value)),
        });
        expect(rig.call(RECURSE, { [Reg.Rdi]: 6n })).toEqual(returned);
        expect(list).toEqual(['5', '3', '1']);
      });
    });

    it('before sessions every return handler runs, whatever the entry answered', () => {
      for (const [profile, returns] of [
        ['k6.11', 1],
        ['k6.14', 0],
      ] as const)
        on(profile, (rig) => {
          let count = 0;
          rig.attach(NOP_FUNCTION, {
            entry: () => HandlerResult.Ignore,
            return: () => void count++,
          });
          rig.call(NOP_FUNCTION);
          expect(count).toBe(returns);
        });
    });

    it('a return-only consumer that came after the entry runs too; a session one does not (4.4)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.attach(A, { return: () => void list.push('first') });
        rig.attach(C, {
          entry: () => {
            rig.attach(A, { return: () => void list.push('late') });
            rig.attach(A, {
              entry: () => HandlerResult.Continue,
              return: () => void list.push('late session'),
            });
            return HandlerResult.Continue;
          },
        });
        expect(rig.call(A)).toEqual(returned);
        expect(list).toEqual(['late', 'first']);
      });
    });

    it('detached inside the function: the address is restored, nobody is called (g_remove_mid)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        const handle = rig.trace(A, 'A', list, 'return');
        rig.attach(C, {
          entry: () => {
            rig.uprobes.unregister(handle);
            return HandlerResult.Continue;
          },
        });
        expect(rig.call(A)).toEqual(returned);
        expect(list).toEqual([]);
        expect(rig.reg(Reg.Rax)).toBe(7n);
      });
    });

    it('the whole last consumer goes, a new one comes: the pending return is not its own (4.8)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        const handle = rig.trace(A, 'old', list, 'return');
        rig.attach(C, {
          entry: () => {
            rig.uprobes.unregister(handle);
            rig.trace(A, 'new', list, 'return');
            return HandlerResult.Continue;
          },
        });
        expect(rig.call(A)).toEqual(returned);
        expect(list).toEqual([]);
      });
    });

    it('a uprobe that another consumer kept alive meanwhile runs the new return handler (4.8)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        const first = rig.trace(A, 'old', list, 'return');
        const second = rig.trace(A, 'keeps', [], 'entry');
        rig.attach(C, {
          entry: () => {
            rig.uprobes.unregister(first);
            rig.uprobes.unregister(second);
            rig.trace(A, 'new', list, 'return');
            return HandlerResult.Continue;
          },
        });
        expect(rig.call(A)).toEqual(returned);
        expect(list).toEqual(['new:ret']);
      });
    });

    it('system call 335 elsewhere: SIGILL, si_code 128, no handler (C4, misc.txt)', () => {
      for (const profile of ['k6.11', 'k6.14', 'k6.18', 'k7.3'] as const)
        on(profile, (rig) => {
          const list: string[] = [];
          rig.trace(TRAMPOLINE_BY_HAND, 'f', list, 'return');
          const ending = rig.call(TRAMPOLINE_BY_HAND);
          expect(ending).toMatchObject({ kind: 'signal', signal: SIGILL, code: SI_KERNEL });
          // rip=after the syscall, rax=-1 (misc.txt f1, f3).
          expect(ending).toMatchObject({ ip: TRAMPOLINE_BY_HAND + 7n });
          expect(list).toEqual([]);
        });
    });

    it('before 6.11 there is no system call 335: ENOSYS', () => {
      on('k6.10', (rig) => {
        expect(rig.call(TRAMPOLINE_BY_HAND)).toEqual(returned);
        expect(BigInt.asIntN(64, rig.reg(Reg.Rax))).toBe(-38n);
      });
    });

    it('the trampoline without a pending return: SIGILL (misc.txt f5)', () => {
      on('k6.18', (rig) => {
        rig.trace(NOP_FUNCTION, 'f', [], 'return');
        rig.call(NOP_FUNCTION);
        const [area = 0n] = rig.specials('[uprobes]');
        expect(rig.call(area)).toMatchObject({
          signal: SIGILL,
          code: SI_KERNEL,
          ip: area + 0x0dn,
        });
      });
      on('k6.10', (rig) => {
        rig.trace(NOP_FUNCTION, 'f', [], 'return');
        rig.call(NOP_FUNCTION);
        const [area = 0n] = rig.specials('[uprobes]');
        expect(rig.call(area)).toMatchObject({ signal: SIGILL, code: SI_KERNEL });
      });
    });

    it('a return address that lies half in a page nobody may write: SIGSEGV (spec 4.2 step 5)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        const handle = rig.trace(NOP_FUNCTION, 'f', list, 'both');
        const page = 0x780000n;
        rig.mm.space.map({ address: page, placement: 'only', size: 0x1000n, prot: 3 });
        rig.mm.space.map({ address: page + 0x1000n, placement: 'only', size: 0x1000n, prot: 1 });
        expect(rig.call(NOP_FUNCTION, { [Reg.Rsp]: page + 0xffcn })).toMatchObject({
          kind: 'signal',
          signal: 11,
          code: SI_KERNEL,
        });
        expect([list, handle.missed]).toEqual([['f'], 1]);
        expect(rig.log).toEqual([
          `uprobe: return address clobbered: pid=${rig.task.tid}, %sp=0x780ffc, %ip=0x401000`,
        ]);
        // None of it can be written: the return is not probed, and that is all.
        rig.mm.space.protect(page, 0x1000n, 1);
        rig.call(NOP_FUNCTION, { [Reg.Rsp]: page + 0xf00n });
        expect(handle.missed).toBe(2);
      });
    });

    it('jumped to with the trampoline on the stack and nothing pending: a tail call of nobody, then SIGILL', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.trace(C, 'C', list, 'both');
        rig.call(C);
        const [area = 0n] = rig.specials('[uprobes]');
        // push %rdi; jmp C
        expect(rig.call(PUSHES, { [Reg.Rdi]: area })).toMatchObject({
          kind: 'signal',
          signal: SIGILL,
          code: SI_KERNEL,
        });
        expect(list).toEqual(['C', 'C:ret', 'C']);
        const { tid, tgid } = rig.task;
        expect(rig.log).toEqual([
          `uprobe: handle tail call pid/tgid=${tid}/${tgid}`,
          `uprobe: handle uretprobe, sending SIGILL pid/tgid=${tid}/${tgid}`,
        ]);
      });
    });

    it('a function that reads its return address sees the trampoline (gtests.txt, g_ra)', () => {
      on('k6.18', (rig) => {
        rig.trace(READS_RETURN, 'f', [], 'return');
        rig.call(READS_RETURN);
        expect(rig.reg(Reg.Rax)).toBe(rig.specials('[uprobes]')[0]);
      });
    });
  });
