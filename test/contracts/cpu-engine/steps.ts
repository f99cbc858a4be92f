import { expect, it } from 'vitest';
import { Prot, Reg } from '../../../src/cpu/engine.ts';
import { briefly, DATA, NOWHERE, type Rig, STACK_TOP, TF } from './rig.ts';

/** Straight code, jumps over an int3, a call. */
const WALK = `
  48 ff c0               inc rax
  50                     push rax
  5b                     pop rbx
  eb 01                  jmp short 400008h
  cc                     int3
  e8 01 00 00 00         call 40000Eh
  cc                     int3
  c3                     ret`;

export const stepTests = (rig: () => Rig): void => {
  const stepTo = (): string[] => [...briefly(rig().step()), `@${rig().at}`];

  it('steps one instruction at a time', () => {
    rig().load(WALK);
    const at = [];
    for (let i = 0; i < 6; i++) at.push(...stepTo());
    expect(at).toEqual(['@3', '@4', '@5', '@8', '@14', '@13']);
    expect(rig().get(Reg.Rbx)).toBe(1n);
  });

  it('steps one iteration of a string instruction', () => {
    rig().load('b9 03 00 00 00  mov ecx,3\n f3 a4  rep movsb\n 90  nop');
    rig().set(Reg.Rsi, DATA);
    rig().set(Reg.Rdi, DATA + 0x100n);
    const seen: string[] = [];
    for (let i = 0; i < 5; i++) seen.push(`${stepTo()} ${rig().get(Reg.Rcx)}`);
    expect(seen).toEqual(['@5 3', '@5 2', '@5 1', '@7 0', '@8 0']);
  });

  it('hands over the trap of the instruction itself, and no debug trap', () => {
    for (const [listing, trap, at] of [
      ['cc  int3', 'int3@1', '@1'],
      ['0f 05  syscall', 'syscall@2', '@2'],
      ['cd 80  int 80h', 'interrupt@2', '@2'],
      ['0f 0b  ud2', 'invalid-opcode@0', '@0'],
      ['f4  hlt', 'general-protection@0', '@0'],
      ['f7 f1  div ecx', 'divide-error@0', '@0'],
      ['48 8b 04 25 00 00 90 00  mov rax,[900000h]', 'page-fault@0', '@0'],
      ['0f 10 04 25 00 00 90 00  movups xmm0,[900000h]', 'page-fault@0', '@0'],
      ['c5 f8 77  vzeroupper', 'unsupported@0', '@0'],
    ] as const) {
      rig().load(`${listing}\n 90  nop\n 90  nop`);
      expect([listing, ...stepTo()]).toEqual([listing, trap, at]);
      expect(rig().get(Reg.Rflags) & TF).toBe(0n);
      // answering `go` ends the step all the same, unless the fault was repaired
      rig().set(Reg.Rip, 0x40_0000n);
      if (trap.startsWith('int') || trap.startsWith('sys')) {
        expect(briefly(rig().step(() => 'go'))).toEqual([trap]);
        expect(`@${rig().at}`).toBe(at);
      }
    }
  });

  it('executes the instruction when its fault is repaired, or stops where the handler went', () => {
    rig().load('48 8b 04 25 00 00 90 00  mov rax,[900000h]\n 90  nop\n 90  nop');
    const seen = rig().step(() => {
      rig().engine.map(NOWHERE, 0x1000n, Prot.Read);
      return 'go';
    });
    expect([briefly(seen), rig().at]).toEqual([['page-fault@0'], 8]);
    rig().engine.unmap(NOWHERE, 0x1000n);
    rig().set(Reg.Rip, 0x40_0000n);
    rig().step(() => {
      rig().set(Reg.Rip, 0x40_0009n);
      return 'go';
    });
    expect(rig().at).toBe(9);
  });

  it('never shows its trap flag', () => {
    rig().load(`
      9c                     pushfq
      66 9c                  pushf
      0f 05                  syscall
      48 0f a0               push fs
      cc                     int3`);
    const sp = rig().get(Reg.Rsp);
    rig().step();
    expect(rig().peek64(sp - 8n)).toBe(0x202n);
    rig().step();
    expect(rig().peek64(sp - 10n) & 0xffffn).toBe(0x202n);
    rig().step(() => {
      expect(rig().get(Reg.Rflags)).toBe(0x202n);
      expect(rig().get(Reg.R11)).toBe(0x202n);
      return 'go';
    });
    expect(rig().get(Reg.Rflags)).toBe(0x202n);
  });

  it('leaves a trap flag that the program sets itself, which traps from then on', () => {
    rig().load('9d  popfq\n 90  nop\n 90  nop\n 90  nop');
    const sp = rig().get(Reg.Rsp);
    rig().poke64(sp, 0x302n);
    // SDM vol. 3, 17.3.1.4: the instruction that sets TF does not trap yet
    expect(stepTo()).toEqual(['@1']);
    expect(rig().get(Reg.Rflags) & TF).toBe(TF);
    expect(stepTo()).toEqual(['debug@2', '@2']);
    expect(briefly(rig().run())).toEqual(['debug@3']);
  });

  it('traps after exactly one instruction when TF is written', () => {
    rig().load(WALK);
    rig().set(Reg.Rflags, 0x302n);
    const seen = rig().run((trap) => (trap.kind === 'debug' ? 'go' : 'stop'));
    expect(briefly(seen)).toEqual([
      ...['debug@3', 'debug@4', 'debug@5', 'debug@8', 'debug@14', 'debug@13'],
      'int3@14',
    ]);
    rig().set(Reg.Rflags, 0x202n);
  });

  it('traps behind a syscall, each iteration, and not before a fault or behind an int3', () => {
    rig().load(`
      0f 05                  syscall
      b9 02 00 00 00         mov ecx,2
      f3 a4                  rep movsb
      cc                     int3
      90                     nop
      8b 04 25 00 00 90 00   mov eax,[900000h]
      90                     nop`);
    rig().set(Reg.Rsi, DATA);
    rig().set(Reg.Rdi, DATA + 8n);
    rig().set(Reg.Rflags, 0x302n);
    const seen = rig().run((trap) => (trap.kind === 'page-fault' ? 'stop' : 'go'));
    expect(briefly(seen)).toEqual([
      'syscall@2',
      'debug@2',
      'debug@7',
      'debug@7',
      'debug@9',
      'int3@10',
      'debug@11',
      'page-fault@11',
    ]);
    rig().set(Reg.Rflags, 0x202n);
  });

  it('steps a slot set up in an int3, and comes back', () => {
    // What uprobes do: RIP to a copy and TF in the int3, RIP back and TF off in the debug trap.
    rig().load('90  nop\n cc  int3\n 90  nop\n cc  int3');
    rig().engine.poke(0x40_0800n, Uint8Array.of(0x48, 0xff, 0xc0, 0xcc));
    const seen = rig().run((trap, { at }) => {
      if (trap.kind === 'int3' && at === 4) return 'stop';
      const hit = trap.kind === 'int3';
      rig().set(Reg.Rip, hit ? 0x40_0800n : 0x40_0002n);
      const flags = rig().get(Reg.Rflags);
      rig().set(Reg.Rflags, hit ? flags | TF : flags & ~TF);
      return 'go';
    });
    expect(briefly(seen)).toEqual(['int3@2', 'debug@2051', 'int3@4']);
    expect(rig().get(Reg.Rax)).toBe(1n);
  });

  it('traps behind a pause, also one that has run before without TF', () => {
    const listing = 'f3 90  pause\n 90  nop\n f3 90  pause\n 90  nop\n 0f 0b  ud2';
    rig().load(listing);
    expect(briefly(rig().run())).toEqual(['invalid-opcode@6']);
    rig().set(Reg.Rip, 0x40_0000n);
    expect([stepTo(), stepTo(), stepTo(), stepTo()]).toEqual([['@2'], ['@3'], ['@5'], ['@6']]);
    rig().set(Reg.Rip, 0x40_0000n);
    rig().set(Reg.Rflags, rig().get(Reg.Rflags) | TF);
    const seen = rig().run((trap) => (trap.kind === 'debug' ? 'go' : 'stop'));
    expect(briefly(seen)).toEqual(['debug@2', 'debug@3', 'debug@5', 'debug@6', 'invalid-opcode@6']);
  });

  it('does not trap at once when a syscall or an int3 sets TF', () => {
    // the return from a signal handler to a program that steps itself
    for (const first of ['0f 05  syscall', 'cd 80  int 80h']) {
      rig().load(`${first}\n 90  nop\n 90  nop\n cc  int3`);
      const seen = rig().run((trap) => {
        if (trap.kind === 'syscall' || trap.kind === 'interrupt') rig().set(Reg.Rflags, 0x302n);
        return trap.kind === 'int3' ? 'stop' : 'go';
      });
      expect(briefly(seen).slice(1)).toEqual(['debug@3', 'debug@4', 'int3@5']);
    }
    rig().set(Reg.Rflags, 0x202n);
  });

  it('does not trap when a syscall under TF has cleared TF', () => {
    rig().load('0f 05  syscall\n 90  nop\n cc  int3');
    rig().set(Reg.Rflags, 0x302n);
    const seen = rig().run((trap) => {
      if (trap.kind === 'syscall') rig().set(Reg.Rflags, 0x202n);
      return trap.kind === 'int3' ? 'stop' : 'go';
    });
    expect(briefly(seen)).toEqual(['syscall@2', 'int3@4']);
  });

  it('pushes the real trap flag, and loses it to popf', () => {
    rig().load('9c  pushfq\n 9d  popfq\n 90  nop\n cc  int3');
    rig().set(Reg.Rflags, 0x302n);
    const seen = rig().run((trap, { at }) => {
      if (at === 1) {
        expect(rig().peek64(STACK_TOP - 0x808n)).toBe(0x302n);
        rig().poke64(STACK_TOP - 0x808n, 0x202n);
      }
      return trap.kind === 'int3' ? 'stop' : 'go';
    });
    expect(briefly(seen)).toEqual(['debug@1', 'debug@2', 'int3@4']);
  });
};
