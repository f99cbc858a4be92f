import { expect, it } from 'vitest';
import { type EngineFactory, Prot, Reg } from '../../../src/cpu/engine.ts';
import { CODE } from '../../helpers/code.ts';
import { briefly, DATA, NOWHERE, Rig } from './rig.ts';

const PROGRAM = `
  48 ff c0               inc rax
  f2 0f 58 c1            addsd xmm0,xmm1
  48 01 04 25 00 00 60 00   add [600000h],rax
  cc                     int3`;

export const snapshotTests = (rig: () => Rig, factory: () => EngineFactory): void => {
  it('restores registers, memory, rights and text', () => {
    rig().load(PROGRAM);
    rig().run();
    const snapshot = rig().engine.capture();
    const before = [rig().get(Reg.Rax), rig().get(Reg.Rip), rig().get(Reg.Rflags)];
    const count = rig().engine.instructionCount;
    const fx = rig().fx();
    for (let round = 0; round < 3; round++) {
      rig().set(Reg.Rax, 99n);
      rig().set(Reg.Rflags, 0xad7n);
      rig().set(Reg.Rip, CODE);
      rig().run();
      rig().engine.poke(CODE, Uint8Array.of(0xcc));
      rig().engine.map(NOWHERE, 0x1000n, Prot.Read);
      rig().engine.protect(DATA, 0x1000n, Prot.Read);
      rig().engine.unmap(DATA + 0x1000n, 0x1000n);
      rig().engine.restore(snapshot);
      expect([rig().get(Reg.Rax), rig().get(Reg.Rip), rig().get(Reg.Rflags)]).toEqual(before);
      expect([rig().fx(), rig().engine.instructionCount]).toEqual([fx, count]);
      expect(rig().peek64(DATA)).toBe(1n);
      rig().set(Reg.Rip, CODE);
      expect(briefly(rig().run())).toEqual(['int3@16']);
      expect(rig().peek64(DATA)).toBe(3n);
      rig().load('8a 14 25 00 00 90 00  mov dl,[900000h]');
      expect(rig().run()[0]).toMatchObject({ kind: 'page-fault', mapped: false });
      rig().engine.restore(snapshot);
    }
  });

  it('keeps several snapshots apart', () => {
    rig().load('48 ff 04 25 00 00 60 00  inc qword ptr [600000h]\n cc  int3');
    const snapshots = [];
    for (let i = 0; i < 4; i++) {
      rig().set(Reg.Rip, CODE);
      rig().run();
      snapshots.push(rig().engine.capture());
    }
    for (const i of [2, 0, 3, 3, 1]) {
      rig().engine.restore(snapshots[i]!);
      expect(rig().peek64(DATA)).toBe(BigInt(i + 1));
      rig().set(Reg.Rip, CODE);
      rig().run();
      expect(rig().peek64(DATA)).toBe(BigInt(i + 2));
    }
  });

  it('restores what the program, and what a poke has written, many times', () => {
    rig().load('48 89 03  mov [rbx],rax\n cc  int3');
    const snapshot = rig().engine.capture();
    for (let i = 0n; i < 20n; i++) {
      rig().set(Reg.Rbx, DATA + 64n * i);
      rig().set(Reg.Rax, i + 1n);
      rig().run();
      rig().poke64(DATA + 0x1000n + 64n * i, i);
      expect(rig().peek64(DATA + 64n * i)).toBe(i + 1n);
      rig().engine.restore(snapshot);
      expect(rig().peek(DATA, 0x2000)).toEqual(new Uint8Array(0x2000));
    }
  });

  it('exchanges contexts of the CPU and leaves memory alone', () => {
    rig().load(PROGRAM);
    const fresh = rig().engine.saveContext();
    rig().run();
    const fx = rig().fx();
    fx.set([1, 2, 3], 160);
    rig().engine.regs.writeFx(fx);
    rig().set(Reg.FsBase, 0x1234n);
    const used = rig().engine.saveContext();
    rig().engine.loadContext(fresh);
    expect([rig().get(Reg.Rax), rig().get(Reg.FsBase), rig().at]).toEqual([0n, 0n, 0]);
    expect(rig().peek64(DATA)).toBe(1n);
    rig().engine.loadContext(used);
    expect([rig().get(Reg.Rax), rig().get(Reg.FsBase), rig().at]).toEqual([1n, 0x1234n, 16]);
    expect(rig().fx()).toEqual(fx);
  });

  it('takes a context to another engine of the kind', () => {
    rig().load(PROGRAM);
    rig().run();
    const other = new Rig(factory());
    other.engine.loadContext(rig().engine.saveContext());
    expect([other.get(Reg.Rax), other.at]).toEqual([1n, 16]);
    other.engine.dispose();
  });

  it('keeps engines apart', () => {
    const other = new Rig(factory());
    rig().load('b8 01 00 00 00  mov eax,1\n cc  int3');
    other.load('b8 02 00 00 00  mov eax,2\n cc  int3');
    rig().run();
    other.run();
    expect([rig().get(Reg.Rax), other.get(Reg.Rax)]).toEqual([1n, 2n]);
    other.engine.dispose();
  });
};
