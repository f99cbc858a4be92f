import { expect, it } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { briefly, NOWHERE, type Rig } from './rig.ts';

/** The longest block in instructions that an engine may run past a limit. */
const BLOCK = 64;

export const budgetTests = (rig: () => Rig): void => {
  it('ends an endless loop after the limit, at a block’s start', () => {
    rig().load('48 ff c0  inc rax\n eb fb  jmp short 400000h');
    for (const limit of [1, 10, 1000, 12_345]) {
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rax, 0n);
      const before = rig().engine.instructionCount;
      expect(briefly(rig().run(undefined, limit))).toEqual(['budget@0']);
      const count = rig().engine.instructionCount - before;
      expect(count).toBeGreaterThanOrEqual(limit);
      expect(count).toBeLessThan(limit + BLOCK);
      expect(Number(rig().get(Reg.Rax)) * 2).toBe(count);
    }
  });

  it('goes on after a budget trap, for as long again', () => {
    rig().load(
      '48 ff c0  inc rax\n 48 83 f8 64  cmp rax,64h\n 75 f7  jne short 400000h\n cc  int3',
    );
    const seen = rig().run((trap) => (trap.kind === 'budget' ? 'go' : 'stop'), 90);
    expect(briefly(seen)).toEqual(['budget@0', 'budget@0', 'budget@0', 'int3@10']);
    expect(rig().get(Reg.Rax)).toBe(100n);
  });

  it('can be redirected and stopped at a budget trap', () => {
    rig().load('eb fe  jmp short 400000h\n 90  nop\n cc  int3');
    const seen = rig().run((trap) => {
      if (trap.kind !== 'budget') return 'stop';
      rig().set(Reg.Rip, 0x40_0002n);
      return 'go';
    }, 10);
    expect(briefly(seen)).toEqual(['budget@0', 'int3@4']);
    rig().set(Reg.Rip, 0x40_0000n);
    rig().run(() => {
      rig().set(Reg.Rip, 0x40_0003n);
      return 'stop';
    }, 10);
    expect(rig().at).toBe(3);
  });

  it('counts instructions exactly, also around traps', () => {
    rig().load(`
      b9 0a 00 00 00         mov ecx,0Ah
      ff c9                  dec ecx
      75 fc                  jne short 400005h
      0f 05                  syscall
      90                     nop
      8b 03                  mov eax,[rbx]
      90                     nop`);
    rig().set(Reg.Rbx, NOWHERE);
    const before = rig().engine.instructionCount;
    const counts: number[] = [];
    rig().run((trap) => {
      counts.push(rig().engine.instructionCount - before);
      return trap.kind === 'page-fault' ? 'stop' : 'go';
    });
    // 1 + 10 * 2 + 1; then nop, and the load that has not been executed
    expect(counts).toEqual([22, 23]);
    rig().set(Reg.Rip, 0x40_0000n);
    const once = rig().engine.instructionCount;
    rig().step();
    expect(rig().engine.instructionCount - once).toBe(1);
  });

  it('counts the same every time', () => {
    rig().load('b9 64 00 00 00  mov ecx,64h\n f3 a4  rep movsb\n ff c9  dec ecx\n cc  int3');
    const counts = [1, 2, 3].map(() => {
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rsi, 0x60_0000n);
      rig().set(Reg.Rdi, 0x60_1000n);
      const before = rig().engine.instructionCount;
      rig().run();
      return rig().engine.instructionCount - before;
    });
    expect(new Set(counts).size).toBe(1);
  });
};
