import { expect, it } from 'vitest';
import { Prot, Reg } from '../../../src/cpu/engine.ts';
import { DATA, type Rig } from './rig.ts';

const PAGE = 0x1000n;
const BASE = 0x7fff_e000_0000n;
const RW = Prot.Read | Prot.Write;

/** Small, seeded, and good enough to mix operations (numerical recipes' LCG). */
export const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

export const memoryTests = (rig: () => Rig): void => {
  const engine = () => rig().engine;

  /** What a load and a store of a byte at `address` come to: letters of the rights that hold. */
  const rights = (address: bigint): string => {
    let held = '';
    for (const [listing, letter] of [
      ['8a 13  mov dl,[rbx]', 'r'],
      ['80 0b 00  or byte ptr [rbx],0', 'w'],
    ] as const) {
      rig().load(`${listing}\n cc  int3`);
      rig().set(Reg.Rbx, address);
      if (rig().run()[0]!.kind === 'int3') held += letter;
    }
    rig().set(Reg.Rip, address);
    if (rig().run()[0]!.access !== 'exec') held += 'x';
    return held;
  };

  it('maps zeroed pages, also where others were before', () => {
    engine().map(BASE, 4n * PAGE, RW);
    expect(rig().peek(BASE, 0x4000)).toEqual(new Uint8Array(0x4000));
    engine().poke(BASE, new Uint8Array(0x4000).fill(7));
    engine().unmap(BASE + PAGE, PAGE);
    engine().map(BASE + PAGE, PAGE, RW);
    const bytes = rig().peek(BASE, 0x4000);
    expect([bytes[0xfff], bytes[0x1000], bytes[0x1fff], bytes[0x2000]]).toEqual([7, 0, 0, 7]);
    engine().unmap(BASE, 4n * PAGE);
  });

  it('gives each page its own rights', () => {
    const all = [Prot.None, Prot.Read, RW, Prot.Read | Prot.Exec, RW | Prot.Exec, Prot.Exec];
    engine().map(BASE, 6n * PAGE, RW);
    all.forEach((prot, i) => {
      engine().protect(BASE + BigInt(i) * PAGE, PAGE, prot);
      engine().poke(BASE + BigInt(i) * PAGE, Uint8Array.of(0xcc));
    });
    // an x86 page that can be accessed at all can be read (SDM vol. 3, 4.6)
    expect(all.map((_, i) => rights(BASE + BigInt(i) * PAGE))).toEqual([
      '',
      'r',
      'rw',
      'rx',
      'rwx',
      'rx',
    ]);
    engine().unmap(BASE, 6n * PAGE);
  });

  it('ignores rights in peek and poke', () => {
    engine().map(BASE, PAGE, Prot.None);
    engine().poke(BASE + 5n, Uint8Array.of(1, 2, 3));
    expect(rig().peek(BASE + 4n, 5)).toEqual(Uint8Array.of(0, 1, 2, 3, 0));
    engine().unmap(BASE, PAGE);
  });

  it('peeks and pokes across pages and mappings', () => {
    engine().map(BASE, PAGE, Prot.Read);
    engine().map(BASE + PAGE, 2n * PAGE, RW);
    const bytes = Uint8Array.from({ length: 0x2800 }, (_, i) => i % 251);
    engine().poke(BASE + 0x400n, bytes);
    expect(rig().peek(BASE + 0x400n, bytes.length)).toEqual(bytes);
    engine().unmap(BASE, 3n * PAGE);
  });

  it('shows the program what was poked, and what the program stores', () => {
    rig().load('8b 13  mov edx,[rbx]\n ff c2  inc edx\n 89 53 04  mov [rbx+4],edx\n cc  int3');
    engine().poke(DATA, Uint8Array.of(41));
    rig().set(Reg.Rbx, DATA);
    rig().run();
    expect(rig().peek(DATA + 4n, 1)).toEqual(Uint8Array.of(42));
  });

  it('takes pages away from the middle of a mapping at once', () => {
    engine().map(BASE, 3n * PAGE, RW);
    rig().load('8a 13  mov dl,[rbx]\n 8a 13  mov dl,[rbx]\n cc  int3');
    rig().set(Reg.Rbx, BASE + PAGE);
    expect(rig().run()[0]!.kind).toBe('int3');
    rig().load('8a 13  mov dl,[rbx]\n 0f 05  syscall\n 8a 13  mov dl,[rbx]\n cc  int3');
    rig().set(Reg.Rbx, BASE + PAGE);
    const seen = rig().run((trap) => {
      if (trap.kind !== 'syscall') return 'stop';
      engine().unmap(BASE + PAGE, PAGE);
      return 'go';
    });
    expect(seen.at(-1)).toMatchObject({ kind: 'page-fault', at: 4, mapped: false });
    expect([rights(BASE), rights(BASE + 2n * PAGE)]).toEqual(['rw', 'rw']);
    engine().unmap(BASE, PAGE);
    engine().unmap(BASE + 2n * PAGE, PAGE);
  });

  it('takes the right to write away at once, and gives it back', () => {
    rig().load(
      'c6 03 01  mov byte ptr [rbx],1\n 0f 05  syscall\n c6 03 02  mov byte ptr [rbx],2\n cc  int3',
    );
    rig().set(Reg.Rbx, DATA);
    const seen = rig().run((trap) => {
      if (trap.kind === 'int3') return 'stop';
      engine().protect(DATA, PAGE, trap.kind === 'syscall' ? Prot.Read : RW);
      return 'go';
    });
    expect(seen.map(({ kind }) => kind)).toEqual(['syscall', 'page-fault', 'int3']);
    expect(rig().peek(DATA, 1)).toEqual(Uint8Array.of(2));
  });

  it('agrees with a plain table of pages after many changes', () => {
    const next = random(7);
    const PAGES = 64;
    const model = new Map<number, { prot: number; byte: number }>();
    const at = (page: number): bigint => BASE + BigInt(page) * PAGE;
    for (let round = 0; round < 300; round++) {
      const first = next(PAGES);
      const count = 1 + next(8);
      const pages = Array.from({ length: count }, (_, i) => first + i);
      const size = BigInt(count) * PAGE;
      const prot = [Prot.None, Prot.Read, RW, Prot.Read | Prot.Exec][next(4)]!;
      if (pages.every((page) => !model.has(page))) {
        engine().map(at(first), size, prot);
        for (const page of pages) model.set(page, { prot, byte: 0 });
      } else if (pages.every((page) => model.has(page))) {
        const what = next(3);
        if (what === 0) {
          engine().unmap(at(first), size);
          for (const page of pages) model.delete(page);
        } else if (what === 1) {
          engine().protect(at(first), size, prot);
          for (const page of pages) model.get(page)!.prot = prot;
        } else {
          engine().poke(at(first) + 9n, Uint8Array.of(round % 256));
          model.get(first)!.byte = round % 256;
        }
      }
    }
    for (const [page, { prot, byte }] of model) {
      expect(rig().peek(at(page) + 9n, 1)[0]).toBe(byte);
      const held = rights(at(page));
      expect([page, held.includes('r'), held.includes('w')]).toEqual([
        page,
        prot !== Prot.None,
        (prot & Prot.Write) !== 0,
      ]);
      engine().unmap(at(page), PAGE);
    }
  });

  it('maps a great deal, in one piece and in many', () => {
    const big = 0x1_0000_0000n;
    engine().map(big, 0x400_0000n, RW);
    engine().poke(big + 0x3ff_fff0n, Uint8Array.of(5));
    expect(rig().peek(big + 0x3ff_fff0n, 1)).toEqual(Uint8Array.of(5));
    engine().unmap(big, 0x400_0000n);
    for (let i = 0n; i < 500n; i++)
      engine().map(big + i * 0x2000n, PAGE, i % 2n === 0n ? RW : Prot.Read);
    for (let i = 0n; i < 500n; i += 99n)
      expect(rights(big + i * 0x2000n)).toBe(i % 2n === 0n ? 'rw' : 'r');
    for (let i = 0n; i < 500n; i++) engine().unmap(big + i * 0x2000n, PAGE);
  });

  it('reaches the whole user half', () => {
    for (const address of [0x1000n, 0x5555_5555_4000n, 0x7fff_ffff_e000n]) {
      engine().map(address, PAGE, RW);
      expect(rights(address)).toBe('rw');
      engine().unmap(address, PAGE);
      expect(rights(address)).toBe('');
    }
  });
};
