import { describe, expect, it } from 'vitest';
import { Prot } from '../../src/cpu/engine.ts';
import { AddressSpace, type AddressSpaceOptions } from '../../src/memory/address-space.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const RW = Prot.Read | Prot.Write;
const RX = Prot.Read | Prot.Exec;

const make = (options?: AddressSpaceOptions) => {
  const engine = new FakeEngine();
  return { engine, space: new AddressSpace(engine, options) };
};

const lines = (space: AddressSpace): string[] =>
  space.vmas().map((vma) => `${vma.start.toString(16)}-${vma.end.toString(16)} ${vma.prot}`);

describe('mmap', () => {
  it('places downwards from the mmap base and merges what touches', () => {
    const { space } = make();
    expect(space.map({ size: 4096n, prot: RW })).toBe(0x7ffff7ffe000n);
    expect(space.map({ size: 1n, prot: RW })).toBe(0x7ffff7ffd000n);
    expect(lines(space)).toEqual(['7ffff7ffd000-7ffff7fff000 3']);
  });

  it('takes a free hint, and another place for a taken one', () => {
    const { space } = make();
    expect(space.map({ address: 0x10000123n, size: 4096n, prot: RW })).toBe(0x10000000n);
    expect(space.map({ address: 0x10000000n, size: 4096n, prot: RW })).toBe(0x7ffff7ffe000n);
  });

  it('MAP_FIXED replaces, MAP_FIXED_NOREPLACE does not', () => {
    const { space } = make();
    space.map({ address: 0x10000000n, placement: 'only', size: 0x3000n, prot: RW });
    const middle = { address: 0x10001000n, size: 0x1000n, prot: Prot.Read };
    expect(space.map({ ...middle, placement: 'only' })).toBe('EEXIST');
    expect(space.map({ ...middle, placement: 'replace' })).toBe(0x10001000n);
    expect(lines(space)).toEqual([
      '10000000-10001000 3',
      '10001000-10002000 1',
      '10002000-10003000 3',
    ]);
  });

  it('refuses what Linux refuses', () => {
    const { space } = make({ sizeLimit: 0x10000n });
    const fixed = { placement: 'replace', size: 4096n, prot: RW } as const;
    expect(space.map({ size: 0n, prot: RW })).toBe('EINVAL');
    expect(space.map({ ...fixed, address: 0x10000001n })).toBe('EINVAL');
    expect(space.map({ ...fixed, address: 0x1000n })).toBe('EPERM');
    expect(space.map({ ...fixed, address: 0x7ffffffff000n })).toBe('ENOMEM');
    expect(space.map({ ...fixed, address: 0x10000000n, size: 0x11000n })).toBe('ENOMEM');
    expect(space.map({ size: 4096n, prot: RX, mayExec: false })).toBe('EPERM');
  });
});

describe('faults', () => {
  it('populates a file with its bytes and zeros behind them, SIGBUS past its last page', () => {
    const { space } = make();
    const file = memoryInode('/f', new Uint8Array(5000).fill(7));
    const at = space.map({ size: 0x3000n, prot: Prot.Read, file }) as bigint;
    const tail = new Uint8Array(4);
    expect(space.read(at + 4998n, tail)).toBe(4);
    expect([...tail]).toEqual([7, 7, 0, 0]);
    expect(space.resolve(at + 0x1fffn, 'read')).toBe('resolved');
    expect(space.resolve(at + 0x2000n, 'read')).toBe('bus');
    expect(space.resolve(at, 'write')).toBe('accerr');
    expect(space.resolve(at, 'exec')).toBe('accerr');
    expect(space.resolve(at - 1n, 'read')).toBe('maperr');
  });

  it('grows a stack by the page that faulted, down to its limit and gap', () => {
    const { space } = make({ stackLimit: 0x4000n });
    const top = 0x7ffffffff000n;
    space.map({
      address: top - 0x1000n,
      placement: 'only',
      size: 0x1000n,
      prot: RW,
      growsDown: true,
    });
    expect(space.resolve(top - 0x2001n, 'write')).toBe('resolved');
    expect(lines(space)).toEqual(['7fffffffc000-7ffffffff000 3']);
    expect(space.resolve(top - 0x4000n, 'read')).toBe('resolved');
    expect(space.resolve(top - 0x4001n, 'read')).toBe('maperr');
  });
});

describe('user access', () => {
  it('stops at the first byte that user code could not reach', () => {
    const { space } = make();
    const at = space.map({ size: 0x2000n, prot: RW }) as bigint;
    space.protect(at + 0x1000n, 0x1000n, Prot.None);
    expect(space.write(at + 0xffcn, new Uint8Array(8).fill(1))).toBe(4);
    expect(space.read(at + 0xffcn, new Uint8Array(8))).toBe(4);
    expect(space.readU64(at + 0xff8n)).toBe(0x01010101_00000000n);
    expect(space.readU64(at + 0xffcn)).toBeUndefined();
    expect(space.writeU64(at, 0x1122334455667788n)).toBe(true);
    expect(space.readString(at, 100)).toEqual(
      Uint8Array.of(0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11),
    );
    expect(space.readString(at, 8)).toBeUndefined();
    expect(space.readString(at + 0xffcn, 100)).toBeUndefined();
  });
});

describe('program text', () => {
  it('makes a private copy and drops it when it equals the file again', () => {
    const { space, engine } = make();
    const file = memoryInode('/f', new Uint8Array(4096).fill(0x90));
    const at = space.map({ size: 0x1000n, prot: RX, file }) as bigint;
    expect(space.isAnonymous(at)).toBe(false);
    expect(space.writeText(at + 8n, Uint8Array.of(0xcc))).toBeNull();
    expect(space.isAnonymous(at)).toBe(true);
    expect(space.dropIfPristine(at)).toBe(false);
    expect(engine.protAt(at)).toBe(RX);
    space.writeText(at + 8n, Uint8Array.of(0x90));
    expect(space.dropIfPristine(at)).toBe(true);
    expect(space.isAnonymous(at)).toBe(false);
    expect(space.writeText(0x10000n, Uint8Array.of(0xcc))).toBe('EFAULT');
  });
});
