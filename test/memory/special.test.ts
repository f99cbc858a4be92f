import { describe, expect, it } from 'vitest';
import { Prot } from '../../src/cpu/engine.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';

/**
 * The kernel's own mappings as Linux 6.18 showed them: `[uprobes]` is `--xp`, `[uprobes-trampoline]`
 * `r-xp`; both can be read by user code and neither through /proc/self/mem.
 */
const make = (name: string, prot: number) => {
  const engine = new FakeEngine();
  const space = new AddressSpace(engine);
  const special = { name, copiedOnFork: false };
  const at = space.map({ size: 4096n, prot, special }) as bigint;
  return { engine, space, at, special };
};

describe.each([
  ['[uprobes]', Prot.Exec as number],
  ['[uprobes-trampoline]', Prot.Read | Prot.Exec],
])('%s', (name, prot) => {
  it('is there at once for its owner to fill', () => {
    const { engine, space, at } = make(name, prot);
    engine.poke(at, Uint8Array.of(0xcc));
    expect(space.writeText(at + 1n, Uint8Array.of(0x90))).toBeNull();
    const bytes = new Uint8Array(3);
    expect(space.read(at, bytes)).toBe(3);
    expect([...bytes]).toEqual([0xcc, 0x90, 0]);
    expect(space.find(at)).toMatchObject({ prot, label: name, file: null });
  });

  it('may be executed and read, not written, not read by force', () => {
    const { space, at } = make(name, prot);
    expect(space.resolve(at, 'exec')).toBe('resolved');
    expect(space.resolve(at, 'read')).toBe('resolved');
    expect(space.resolve(at, 'write')).toBe('accerr');
    expect(space.readForced(at, new Uint8Array(1))).toBe(0);
  });

  it('cannot be moved, merged or given more rights', () => {
    const { space, at, special } = make(name, prot);
    space.map({ size: 4096n, prot, special });
    expect(space.vmas().length).toBe(2);
    expect(space.remap(at, 4096n, 8192n, { mayMove: true })).toBe('EFAULT');
    expect(space.remap(at, 4096n, 4096n, { mayMove: true, fixed: at + 65536n })).toBe('EPERM');
    expect(space.protect(at, 4096n, prot | Prot.Write)).toBe('EACCES');
    expect(space.protect(at, 4096n, Prot.None)).toBeNull();
    expect(space.protect(at, 4096n, prot)).toBeNull();
  });
});
