import { expect, it } from 'vitest';
import { Prot, Reg } from '../../../src/cpu/engine.ts';
import { CODE, code } from '../../helpers/code.ts';
import { briefly, DATA, type Rig } from './rig.ts';

const LOOP = `
  b9 03 00 00 00         mov ecx,3
  0f 05                  syscall
  48 ff c0               inc rax
  90                     nop
  ff c9                  dec ecx
  75 f6                  jne short 400005h
  cc                     int3`;

/** Program text that changes under the running program. */
export const textTests = (rig: () => Rig): void => {
  const restart = (): void => rig().set(Reg.Rip, CODE);

  it('sees a poke into code that has run before', () => {
    rig().load('b8 01 00 00 00  mov eax,1\n cc  int3');
    rig().run();
    rig().engine.poke(CODE + 1n, Uint8Array.of(9));
    restart();
    rig().run();
    expect(rig().get(Reg.Rax)).toBe(9n);
  });

  it('sees a breakpoint that comes and goes, byte by byte', () => {
    rig().load('90  nop\n b8 01 00 00 00  mov eax,1\n 90  nop\n cc  int3');
    const ran = (): string[] => {
      restart();
      return briefly(rig().run());
    };
    expect(ran()).toEqual(['int3@8']);
    rig().engine.poke(CODE + 1n, Uint8Array.of(0xcc));
    expect(ran()).toEqual(['int3@2']);
    rig().engine.poke(CODE + 2n, Uint8Array.of(7, 0, 0, 0));
    rig().engine.poke(CODE + 1n, Uint8Array.of(0xb8));
    expect([...ran(), rig().get(Reg.Rax)]).toEqual(['int3@8', 7n]);
  });

  it('sees new code where a page before it has gone first', () => {
    const PLACE = 0x80_0000n;
    const PAGE = 0x1000n;
    const second = (listing: string): bigint => {
      rig().engine.map(PLACE, 2n * PAGE, Prot.Read | Prot.Exec);
      rig().engine.poke(PLACE + PAGE, code(listing));
      rig().set(Reg.Rip, PLACE + PAGE);
      rig().run();
      rig().engine.protect(PLACE, PAGE, Prot.None);
      rig().engine.unmap(PLACE, 2n * PAGE);
      return rig().get(Reg.Rax);
    };
    expect(second('b8 01 00 00 00  mov eax,1\n cc  int3')).toBe(1n);
    expect(second('b8 02 00 00 00  mov eax,2\n cc  int3')).toBe(2n);
  });

  it('sees a poke from a trap handler into the block that is running', () => {
    rig().load(LOOP);
    let hits = 0;
    rig().set(Reg.Rax, 10n);
    rig().run((trap) => {
      if (trap.kind !== 'syscall') return 'stop';
      rig().set(Reg.Rcx, BigInt(3 - hits));
      // inc rax becomes dec rax with the second hit
      if (++hits === 2) rig().engine.poke(CODE + 7n, Uint8Array.of(0x48, 0xff, 0xc8));
      return 'go';
    });
    expect([hits, rig().get(Reg.Rax)]).toEqual([3, 9n]);
  });

  it('sees a poke from a fault handler behind the faulting instruction', () => {
    rig().load(`
      8b 14 25 00 00 90 00   mov edx,[900000h]
      48 ff c0               inc rax
      48 ff c0               inc rax
      cc                     int3`);
    rig().run((trap) => {
      if (trap.kind !== 'page-fault') return 'stop';
      rig().engine.map(0x90_0000n, 0x1000n, Prot.Read);
      rig().engine.poke(CODE + 10n, Uint8Array.of(0x48, 0xff, 0xc8));
      return 'go';
    });
    expect(rig().get(Reg.Rax)).toBe(0n);
    rig().engine.unmap(0x90_0000n, 0x1000n);
  });

  it('sees an int3 put before the instruction behind an int3', () => {
    rig().load('cc  int3\n 90  nop\n 90  nop\n cc  int3');
    const seen = rig().run((_trap, { at }) => {
      if (at === 1) rig().engine.poke(CODE + 1n, Uint8Array.of(0xcc));
      return at === 4 ? 'stop' : 'go';
    });
    expect(briefly(seen)).toEqual(['int3@1', 'int3@2', 'int3@4']);
  });

  it('sees an int3 go that a run stopped in front of', () => {
    // The budget ends at a site whose int3 is new, right behind a block that is not.
    rig().load(`
      90      nop
      eb 00   jmp short 400003h
      eb fb   jmp short 400000h
      90      nop
      90      nop
      90      nop
      eb f9   jmp short 400003h`);
    const ran = (from: bigint, instructions: number): string[] => {
      rig().set(Reg.Rip, CODE + from);
      return briefly(rig().run(undefined, instructions));
    };
    expect(ran(8n, 2)).toEqual(['budget@0']);
    expect(ran(0n, 3)).toEqual(['budget@0']);
    rig().engine.poke(CODE, Uint8Array.of(0xcc));
    expect(ran(8n, 2)).toEqual(['budget@0']);
    rig().engine.poke(CODE, Uint8Array.of(0x90));
    expect(ran(0n, 3)).toEqual(['budget@0']);
  });

  it('sees pages that are unmapped and mapped with other code', () => {
    const other = 0x50_0000n;
    for (const value of [1, 2, 3]) {
      rig().engine.map(other, 0x1000n, Prot.Read | Prot.Exec);
      rig().engine.poke(other, Uint8Array.of(0xb8, value, 0, 0, 0, 0xcc));
      rig().set(Reg.Rip, other);
      rig().run();
      expect(rig().get(Reg.Rax)).toBe(BigInt(value));
      rig().engine.unmap(other, 0x1000n);
      rig().set(Reg.Rip, other);
      expect(rig().run()[0]).toMatchObject({ kind: 'page-fault', access: 'exec', mapped: false });
    }
  });

  it('sees the right to execute come and go', () => {
    rig().load('90  nop\n cc  int3');
    rig().run();
    rig().engine.protect(CODE, 0x1000n, Prot.Read);
    restart();
    expect(rig().run()[0]).toMatchObject({ kind: 'page-fault', access: 'exec', mapped: true });
    rig().engine.protect(CODE, 0x1000n, Prot.Read | Prot.Exec);
    restart();
    expect(briefly(rig().run())).toEqual(['int3@2']);
  });

  it('sees a poke after the rights of the page have changed', () => {
    rig().load('b8 01 00 00 00  mov eax,1\n cc  int3');
    rig().run();
    rig().engine.protect(CODE, 0x1000n, Prot.Read | Prot.Write | Prot.Exec);
    rig().engine.poke(CODE + 1n, Uint8Array.of(5));
    rig().engine.protect(CODE, 0x1000n, Prot.Read | Prot.Exec);
    rig().engine.poke(CODE + 2n, Uint8Array.of(5));
    restart();
    rig().run();
    expect(rig().get(Reg.Rax)).toBe(0x505n);
  });

  it('lets a program write its own code', () => {
    rig().engine.protect(DATA, 0x1000n, Prot.Read | Prot.Write | Prot.Exec);
    rig().load('cc  int3');
    // at DATA: change the operand of the mov behind, in the same block; then that of the next block
    const listing = `
      c6 05 01 00 00 00 09   mov byte ptr [600008h],9
      b0 01                  mov al,1
      c6 05 03 00 00 00 07   mov byte ptr [600013h],7
      eb 00                  jmp short 600012h
      b3 01                  mov bl,1
      cc                     int3`;
    for (let i = 0; i < 3; i++) {
      rig().engine.poke(DATA, code(listing, DATA));
      rig().set(Reg.Rip, DATA);
      rig().run();
      expect([rig().get(Reg.Rax), rig().get(Reg.Rbx)]).toEqual([9n, 7n]);
    }
    // and replace an instruction by one that must be refused: in al,60h
    rig().engine.poke(
      DATA,
      code(
        '66 c7 05 00 00 00 00 e4 60  mov word ptr [600009h],60E4h\n 90  nop\n 90  nop\n cc  int3',
        DATA,
      ),
    );
    rig().set(Reg.Rip, DATA);
    expect(rig().run()[0]!.kind).toBe('general-protection');
    expect(rig().get(Reg.Rip)).toBe(DATA + 9n);
    rig().engine.protect(DATA, 0x1000n, Prot.Read | Prot.Write);
  });

  it('runs straight code of any length', () => {
    const lines = Array.from({ length: 1000 }, (_, i) =>
      i % 4 === 3 ? '48 01 04 25 00 00 60 00  add [600000h],rax' : '48 ff c0  inc rax',
    );
    rig().load(`${lines.join('\n')}\n cc  int3`);
    for (let round = 1n; round <= 3n; round++) {
      restart();
      rig().set(Reg.Rax, 0n);
      rig().engine.poke(DATA, new Uint8Array(8));
      const before = rig().engine.instructionCount;
      rig().run();
      expect(rig().get(Reg.Rax)).toBe(750n);
      // 3 + 6 + … + 750
      expect(rig().peek64(DATA)).toBe((3n * (250n * 251n)) / 2n);
      expect(rig().engine.instructionCount - before).toBe(1001);
    }
  });

  it('leaves the bytes of the program alone', () => {
    // blocks that have to be divided: the program reads its own text meanwhile
    rig().load(`
      48 8b 1c 24            mov rbx,[rsp]
      0f 28 03               movaps xmm0,[rbx]
      8b 04 25 04 00 40 00   mov eax,[400004h]
      f7 f1                  div ecx
      cc                     int3`);
    rig().poke64(rig().get(Reg.Rsp), DATA);
    rig().set(Reg.Rcx, 1n);
    rig().run();
    expect(rig().get(Reg.Rax)).toBe(0x8b03_280fn);
    expect([...rig().peek(CODE + 4n, 3)]).toEqual([0x0f, 0x28, 0x03]);
    expect([...rig().peek(CODE + 14n, 2)]).toEqual([0xf7, 0xf1]);
  });

  it('reads an instruction that crosses a page as it is', () => {
    const page = CODE + 0x1000n;
    rig().load('cc  int3');
    // mov al,0; call +1Fh: read from 4 bytes before the page on, these are `add al,ch` and a bad opcode
    rig().engine.poke(page - 5n, Uint8Array.of(0xb0, 0, 0xe8, 0x1f, 0, 0, 0));
    rig().engine.poke(page + 0x21n, Uint8Array.of(0xcc));
    rig().set(Reg.Rip, page - 5n);
    expect(briefly(rig().run())).toEqual([`int3@${0x1000 + 0x22}`]);
  });
};
