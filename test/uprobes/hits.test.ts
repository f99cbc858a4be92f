/** What a hit does (spec section 3.2), steps (3.5 to 3.8), consumers (2.8). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EngineFactory, Reg } from '../../src/cpu/engine.ts';
import { HandlerResult, PROFILE_NAMES, type ProfileName } from '../../src/uprobes/index.ts';
import { engines } from '../helpers/engines.ts';
import { END, type Rig, type RigOptions, STACK_TOP, withRig } from './rig.ts';

const NOP = 0x401000n;
const PUSH = 0x401010n;
const MOV = 0x401020n;
const CALL = 0x401040n;
const REP = 0x401060n;
const PUSHF = 0x401080n;
const LOAD = 0x4010a0n;
const DIVIDE = 0x4010c0n;
const UD2 = 0x4010e0n;
const OWN_INT3 = 0x401100n;
const SYSCALL = 0x401120n;
const SYSCALL_RET = 0x401140n;
const POPF = 0x401160n;
const CALL_INDIRECT = 0x401180n;
const RIP = 0x4011a0n;
const SP = STACK_TOP - 0x100n;

const TEXT_BYTES: Readonly<Record<string, string>> = {
  '0x401000': '90 c3',
  '0x401010': '55 5d c3', // push %rbp; pop %rbp; ret
  '0x401020': '48 89 f8 c3', // mov %rdi,%rax; ret
  '0x401040': 'e8 02 00 00 00 c3 90 b8 05 00 00 00 c3', // call 1f; ret; nop; 1: mov $5,%eax; ret
  '0x401060': 'f3 a4 c3', // rep movsb; ret
  '0x401080': '9c 58 c3', // pushf; pop %rax; ret
  '0x4010a0': '48 8b 18 c3', // mov (%rax),%rbx; ret
  '0x4010c0': '48 f7 f1 c3', // div %rcx; ret
  '0x4010e0': '0f 0b c3', // ud2
  '0x401100': '90 cc c3', // nop; int3; ret
  '0x401120': '0f 05 90 90 c3', // syscall; nop; nop; ret
  '0x401140': '0f 05 c3', // syscall; ret
  '0x401160': '68 46 03 00 00 9d 90 c3', // push $0x346; popf; nop; ret
  '0x401180': 'ff d0 90 c3', // call *%rax; nop; ret
  '0x4011a0': '48 8b 35 f9 0f 00 00 c3', // mov 0xff9(%rip),%rsi (0x4021a0); ret
  '0x4021a0': '88 77 66 55 44 33 22 11',
};

const SIGTRAP = 5;
const SIGILL = 4;
const SIGFPE = 8;
const SIGSEGV = 11;
const TF = 0x100n;

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

    it.each(PROFILE_NAMES)(
      '%s: emulated and stepped instructions do what they do unprobed',
      (profile) => {
        on(profile, (rig) => {
          const list: string[] = [];
          for (const [name, at] of Object.entries({ NOP, PUSH, MOV, CALL, CALL_INDIRECT, RIP }))
            rig.trace(at, name, list, 'entry');
          const regs = { [Reg.Rdi]: 0x77n, [Reg.Rbp]: 0x1234n, [Reg.Rdx]: 9n };
          rig.call(NOP, regs);
          rig.call(PUSH, regs);
          expect(rig.reg(Reg.Rbp)).toBe(0x1234n);
          rig.call(MOV, regs);
          expect(rig.reg(Reg.Rax)).toBe(0x77n);
          rig.call(CALL, regs);
          expect(rig.reg(Reg.Rax)).toBe(5n);
          rig.call(CALL_INDIRECT, { ...regs, [Reg.Rax]: NOP });
          rig.call(RIP, { ...regs, [Reg.Rdi]: 0x99n });
          // The scratch register is di: its own value comes back.
          expect([rig.reg(Reg.Rsi), rig.reg(Reg.Rdi)]).toEqual([0x1122334455667788n, 0x99n]);
          expect(rig.reg(Reg.Rsp)).toBe(SP + 8n);
          expect(list).toEqual(['NOP', 'PUSH', 'MOV', 'CALL', 'CALL_INDIRECT', 'NOP', 'RIP']);
          expect(rig.uprobes.counters).toMatchObject({ int3Hits: 7, emulated: 4, singleSteps: 3 });
        });
      },
    );

    it('the area lies in the last page of user space and is execute-only (6.18.44: dump.txt)', () => {
      on('k6.18', (rig) => {
        rig.trace(PUSH, 'p', [], 'entry');
        rig.call(PUSH);
        expect(rig.specials('[uprobes]')).toEqual([]);
        rig.trace(MOV, 'm', [], 'entry');
        rig.call(MOV);
        expect(rig.specials('[uprobes]')).toEqual([0x7fffffffe000n]);
        expect(rig.mm.space.find(0x7fffffffe000n)?.prot).toBe(4);
        // 16 bytes of the file in slot 1.
        expect(rig.specialBytes(0x7fffffffe080n, 16)).toBe('4889f8c3000000000000000000000000');
      });
    });

    it('consumers are called newest first, with the state before the instruction', () => {
      on('k7.3', (rig) => {
        const list: string[] = [];
        rig.trace(MOV, 'first', list, 'entry');
        rig.trace(MOV, 'second', list, 'entry');
        rig.attach(MOV, {
          entry: ({ regs, site, via, task }) => {
            list.push(`${regs.read(Reg.Rip) === MOV} ${site === MOV} ${via} ${task === rig.task}`);
            regs.write(Reg.Rdi, 0x55n);
            return HandlerResult.Continue;
          },
        });
        rig.call(MOV);
        expect(list).toEqual(['true true int3 true', 'second', 'first']);
        expect(rig.reg(Reg.Rax)).toBe(0x55n);
      });
    });

    it('a handler that moves ip: skipped since 6.18, executed from the new ip before (C83)', () => {
      for (const profile of PROFILE_NAMES)
        on(profile, (rig) => {
          rig.attach(PUSH, {
            entry: ({ regs }) => {
              regs.write(Reg.Rip, NOP);
              return HandlerResult.Continue;
            },
          });
          const skips = !['k6.10', 'k6.11', 'k6.14', 'k6.16'].includes(profile);
          // Skipped: nop; ret. Emulated: push %rbp, then ip = NOP + 1, whose ret pops what was pushed.
          rig.call(PUSH, { [Reg.Rbp]: END });
          expect(rig.reg(Reg.Rsp)).toBe(skips ? SP + 8n : SP);
        });
    });

    it('rep: one hit an iteration; rcx = 0 hits once', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.trace(REP, 'f', list, 'entry');
        const copy = (count: bigint) =>
          rig.call(REP, { [Reg.Rcx]: count, [Reg.Rsi]: SP - 0x100n, [Reg.Rdi]: SP - 0x200n });
        rig.mm.space.writeU64(SP - 0x100n, 0x0807060504030201n);
        copy(3n);
        expect(list.length).toBe(3);
        expect(rig.mm.space.readU64(SP - 0x200n)).toBe(0x030201n);
        copy(0n);
        expect(list.length).toBe(4);
      });
    });

    it('pushf shows TF; popf leaves TF as it loads it', () => {
      on('k6.18', (rig) => {
        rig.trace(PUSHF, 'f', [], 'entry');
        rig.call(PUSHF, { [Reg.Rflags]: 0x246n });
        expect(rig.reg(Reg.Rax)).toBe(0x346n);
        expect(rig.reg(Reg.Rflags) & TF).toBe(0n);
      });
      on('k6.18', (rig) => {
        rig.trace(POPF + 5n, 'f', [], 'entry');
        // No trap for the popf itself; the TF it loaded traps after the nop.
        expect(rig.call(POPF)).toMatchObject({
          signal: SIGTRAP,
          code: 2,
          ip: POPF + 7n,
          trapNumber: 1n,
          flags: 0x346n,
        });
      });
    });

    it('a program that single-steps itself: one SIGTRAP an instruction, si_code SI_USER (C76)', () => {
      on('k6.18', (rig) => {
        rig.trace(MOV, 'stepped', [], 'entry');
        rig.trace(PUSH, 'emulated', [], 'entry');
        const flags = { [Reg.Rflags]: 0x346n };
        expect(rig.call(MOV, flags)).toMatchObject({
          signal: SIGTRAP,
          code: 0,
          ip: MOV + 3n,
          trapNumber: 0n,
          flags: 0x346n,
        });
        expect(rig.call(PUSH, flags)).toMatchObject({ signal: SIGTRAP, code: 0, ip: PUSH + 1n });
      });
    });

    it('a fault in a step: everything as unprobed but trapno; the handler returns, it is hit again (C77)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.trace(LOAD, 'load', list, 'entry');
        rig.trace(DIVIDE, 'div', list, 'entry');
        rig.trace(UD2, 'ud2', list, 'entry');
        expect(rig.call(LOAD, { [Reg.Rax]: 0x10n })).toMatchObject({
          signal: SIGSEGV,
          code: 1,
          address: 0x10n,
          ip: LOAD,
          trapNumber: 0n,
          flags: 0x10202n,
        });
        // si_addr is the site, not the slot.
        expect(rig.call(DIVIDE)).toMatchObject({
          signal: SIGFPE,
          address: DIVIDE,
          ip: DIVIDE,
          trapNumber: 0n,
        });
        expect(rig.call(UD2)).toMatchObject({ signal: SIGILL, address: UD2, trapNumber: 0n });
        expect(list).toEqual(['load', 'div', 'ud2']);
        rig.call(LOAD, { [Reg.Rax]: SP });
        expect(list.length).toBe(4);
        expect(rig.reg(Reg.Rbx)).toBe(END);
      });
    });

    it('a push or call whose store faults is stepped for the fault (C73, C74)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.trace(PUSH, 'push', list, 'entry');
        rig.trace(CALL, 'call', list, 'entry');
        // Nothing can be stored below: the page is text.
        const sp = 0x401300n;
        for (const at of [PUSH, CALL])
          expect(rig.call(at, { [Reg.Rsp]: sp })).toMatchObject({
            signal: SIGSEGV,
            code: 2,
            address: sp - 8n,
            ip: at,
            sp,
            trapNumber: 0n,
          });
        expect(list).toEqual(['push', 'call']);
        expect(rig.uprobes.counters.singleSteps).toBe(2);
      });
    });

    it('the instruction after a syscall runs in the slot too (6.18.44: rcx = slot + 2, ret goes astray)', () => {
      on('k6.18', (rig) => {
        rig.trace(SYSCALL, 'f', [], 'entry');
        rig.trace(SYSCALL_RET, 'f', [], 'entry');
        const getpid = { [Reg.Rax]: 39n };
        expect(rig.call(SYSCALL, getpid)).toEqual({ kind: 'returned' });
        expect(rig.reg(Reg.Rax)).toBe(BigInt(rig.task.tgid));
        const slot = 0x7fffffffe080n;
        expect(rig.reg(Reg.Rcx)).toBe(slot + 2n);
        expect(rig.reg(Reg.R11) & TF).toBe(TF);
        // ret popped END; the fix-up then moved it by site - slot, out of user space.
        const astray = BigInt.asUintN(64, END + SYSCALL_RET - slot);
        expect(rig.call(SYSCALL_RET, getpid)).toMatchObject({ signal: SIGSEGV, ip: astray });
      });
    });

    it('the program’s own int3 next to a probe: forced SIGTRAP, si_code SI_KERNEL', () => {
      on('k6.18', (rig) => {
        rig.trace(NOP, 'f', [], 'entry');
        expect(rig.call(OWN_INT3)).toMatchObject({
          signal: SIGTRAP,
          code: 128,
          ip: OWN_INT3 + 2n,
        });
      });
    });

    it('"remove" by all consumers whose filters agree takes the breakpoint out of this mm (C92)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        let wanted = true;
        rig.attach(MOV, {
          entry: () => {
            list.push('f');
            wanted = false;
            return HandlerResult.Remove;
          },
          filter: () => wanted,
        });
        rig.call(MOV);
        expect(rig.bytes(MOV, 1)).toBe('48');
        rig.call(MOV);
        expect(list).toEqual(['f']);
      });
      on('k6.18', (rig) => {
        // A filter that still accepts, or one consumer that goes on, keeps it.
        rig.attach(MOV, { entry: () => HandlerResult.Remove });
        rig.call(MOV);
        expect(rig.bytes(MOV, 1)).toBe('cc');
      });
    });

    it('a fatal signal aborts the step; the task is gone and nothing is left behind', () => {
      on('k6.18', (rig) => {
        rig.trace(LOAD, 'f', [], 'entry');
        for (let signal = 1; signal <= 64; signal++)
          rig.task.actions.set(signal, { handler: 0n, flags: 0n, restorer: 0n, mask: 0n });
        expect(() => rig.call(LOAD, { [Reg.Rax]: 0x10n })).toThrow('lost');
        expect(rig.task.group.exit).toMatchObject({ kind: 'signal', signal: SIGSEGV });
        expect(rig.uprobes.counters.singleSteps).toBe(1);
      });
    });
  });
