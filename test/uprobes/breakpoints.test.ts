/** Registration, mappings, reference counters, filters (spec section 2; errnos as `more.txt` of 6.18.44). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EngineFactory, Prot } from '../../src/cpu/engine.ts';
import { HandlerResult, type ProfileName } from '../../src/uprobes/index.ts';
import { engines } from '../helpers/engines.ts';
import { memoryInode } from '../helpers/memory-inode.ts';
import { type Rig, type RigOptions, TEXT, withRig } from './rig.ts';

const NOP = 0x401000n;
const MOV = 0x401010n;
const REFUSED = 0x401020n;
const INT3_IN_FILE = 0x401030n;
/** The last byte of the file starts an instruction that the zeroes behind it complete. */
const LAST = TEXT + 0xffffn;
const COUNTER = 0x3000n;

const TEXT_BYTES: Readonly<Record<string, string>> = {
  '0x401000': '90 c3',
  '0x401010': '48 89 f8 c3',
  '0x401020': 'f4',
  '0x401030': 'cc c3',
  '0x401040': '62',
  '0x40ffff': '90',
};

const entry = (): HandlerResult => HandlerResult.Continue;

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory;
    beforeAll(async () => {
      if (engine.missing === null) factory = await engine.load();
    });
    beforeEach((ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
    });

    const on = (
      profile: ProfileName,
      body: (rig: Rig) => void,
      options: Partial<RigOptions> = {},
    ): void => withRig({ factory, profile, text: TEXT_BYTES, ...options }, body);

    it('answers of registration, in the kernel’s order', () => {
      on('k6.18', (rig) => {
        const register = (
          offset: bigint,
          options: { refCtrOffset?: bigint } = {},
          consumer: object = { entry },
        ) => rig.uprobes.register(rig.file, offset, consumer, options);
        const { size } = rig.file;
        expect(register(NOP - TEXT, {}, {})).toBe('EINVAL');
        expect(register(size + 1n)).toBe('EINVAL');
        expect(register(1n << 62n)).toBe('EINVAL');
        // Signed: -1 is not beyond the end, and no mapping covers it.
        expect(register((1n << 64n) - 1n)).toBeTypeOf('object');
        expect(register(LAST - TEXT)).toBeTypeOf('object');
        expect(register(NOP - TEXT, { refCtrOffset: 0x3001n })).toBe('EINVAL');
        expect(register(REFUSED - TEXT)).toBe('ENOTSUPP');
        expect(register(INT3_IN_FILE - TEXT)).toBe('ENOTSUPP');
        expect(register(0x1040n)).toBe('ENOEXEC');
        const handle = rig.attach(NOP, { entry }, { refCtrOffset: COUNTER });
        expect(register(NOP - TEXT)).toBe('EINVAL');
        expect(register(NOP - TEXT, { refCtrOffset: COUNTER + 2n })).toBe('EINVAL');
        rig.uprobes.unregister(handle);
        expect(register(NOP - TEXT)).toBeTypeOf('object');
      });
    });

    it('the end of the file is EIO when mapped, accepted when not (C71, more.txt)', () => {
      const text = { '0x400ff0': '90' };
      // One byte less than a page: the mapping covers the offset of the end.
      on(
        'k6.18',
        (rig) => {
          expect(rig.uprobes.register(rig.file, rig.file.size, { entry })).toBe('EIO');
        },
        { text, fileSize: 0xfff },
      );
      on(
        'k6.18',
        (rig) => {
          expect(rig.uprobes.register(rig.file, rig.file.size, { entry })).toBeTypeOf('object');
        },
        { text, fileSize: 0x1000 },
      );
    });

    it('a refused instruction is accepted while nobody maps it, and never installed (C70)', () => {
      on(
        'k6.18',
        (rig) => {
          const handle = rig.uprobes.register(rig.file, REFUSED - TEXT, { entry });
          expect(handle).toBeTypeOf('object');
          rig.attach(NOP, { entry });
          rig.map(TEXT, Prot.Read | Prot.Exec);
          expect([rig.bytes(REFUSED, 1), rig.bytes(NOP, 1)]).toEqual(['f4', 'cc']);
        },
        { unmapped: true },
      );
    });

    it('which mappings get the breakpoint (2.3; g_nospace, C90, C91)', () => {
      const kinds = [
        [0x10000000n, Prot.Read | Prot.Exec, false, 'cc'],
        [0x11000000n, Prot.Read, false, 'cc'],
        [0x12000000n, Prot.Read | Prot.Write | Prot.Exec, false, '90'],
        [0x13000000n, Prot.Read | Prot.Write, false, '90'],
        [0x14000000n, Prot.Read | Prot.Exec, true, '90'],
        // No rights now; that it may be made executable is enough.
        [0x15000000n, Prot.None, false, 'cc'],
      ] as const;
      for (const when of ['before', 'after'])
        on('k6.18', (rig) => {
          if (when === 'after') rig.attach(NOP, { entry });
          for (const [at, prot, shared] of kinds) rig.map(at, prot, { shared });
          if (when === 'before') rig.attach(NOP, { entry });
          const bytes = kinds.map(([at]) => rig.bytes(NOP - TEXT + at, 1));
          expect(bytes).toEqual(kinds.map(([, , , byte]) => byte));
        });
    });

    it('the page is a private copy while probed, the file’s again afterwards', () => {
      on('k6.18', (rig) => {
        expect(rig.mm.space.isAnonymous(NOP)).toBe(false);
        const first = rig.attach(NOP, { entry });
        const second = rig.attach(MOV, { entry });
        expect([rig.bytes(NOP, 2), rig.bytes(MOV, 2)]).toEqual(['ccc3', 'cc89']);
        expect(rig.mm.space.isAnonymous(NOP)).toBe(true);
        rig.uprobes.unregister(first);
        expect([rig.bytes(NOP, 2), rig.bytes(MOV, 2)]).toEqual(['90c3', 'cc89']);
        expect(rig.mm.space.isAnonymous(NOP)).toBe(true);
        rig.uprobes.unregister(second);
        expect(rig.bytes(MOV, 2)).toBe('4889');
        expect(rig.mm.space.isAnonymous(NOP)).toBe(false);
      });
    });

    it('two consumers, one breakpoint; the second unregistration of a handle does nothing', () => {
      on('k6.18', (rig) => {
        const first = rig.attach(NOP, { entry });
        const pokes = rig.uprobes.counters.textPokes;
        const second = rig.attach(NOP, { entry });
        expect(rig.uprobes.counters.textPokes).toBe(pokes);
        rig.uprobes.unregister(first);
        rig.uprobes.unregister(first);
        expect(rig.bytes(NOP, 1)).toBe('cc');
        rig.uprobes.unregister(second);
        expect(rig.bytes(NOP, 1)).toBe('90');
      });
    });

    it('a byte that is no breakpoint any more is left alone (2.6)', () => {
      on('k6.18', (rig) => {
        const handle = rig.attach(NOP, { entry });
        rig.mm.space.writeText(NOP, Uint8Array.of(0xf4));
        rig.uprobes.unregister(handle);
        expect(rig.bytes(NOP, 1)).toBe('f4');
      });
    });

    it('the first failing mapping undoes the others (2.2)', () => {
      on('k6.18', (rig) => {
        const data = 0x20000000n;
        rig.map(data, Prot.Read | Prot.Write);
        rig.map(0x30000000n, Prot.Read | Prot.Exec);
        const register = () =>
          rig.uprobes.register(rig.file, NOP - TEXT, { entry }, { refCtrOffset: COUNTER });
        // -2 as a signed word: the increment would leave it below zero.
        rig.mm.space.write(data + COUNTER, Uint8Array.of(0xfe, 0xff));
        expect(register()).toBe('EINVAL');
        expect([rig.bytes(NOP, 1), rig.bytes(NOP - TEXT + 0x30000000n, 1)]).toEqual(['90', '90']);
        expect(rig.log.some((line) => line.includes('ref_ctr increment failed'))).toBe(true);
        // Nothing is left of it: another counter offset is no contradiction.
        expect(rig.uprobes.register(rig.file, NOP - TEXT, { entry })).toBeTypeOf('object');
      });
    });

    it('reference counters: once an mm, added up, waiting for their mapping (2.9, C89)', () => {
      on('k6.18', (rig) => {
        const data = 0x20000000n;
        const counter = (): number => {
          const word = new Uint8Array(2);
          rig.mm.space.read(data + COUNTER, word);
          return word[0]! | (word[1]! << 8);
        };
        const a = rig.attach(NOP, { entry }, { refCtrOffset: COUNTER });
        const b = rig.attach(NOP, { entry }, { refCtrOffset: COUNTER });
        rig.map(data, Prot.Read | Prot.Write);
        expect(counter()).toBe(1);
        const c = rig.attach(MOV, { entry }, { refCtrOffset: COUNTER });
        expect(counter()).toBe(2);
        rig.uprobes.unregister(a);
        expect(counter()).toBe(2);
        rig.uprobes.unregister(b);
        expect(counter()).toBe(1);
        rig.uprobes.unregister(c);
        expect(counter()).toBe(0);
      });
    });

    it('a file system without execution: no breakpoint (2.3)', () => {
      on('k6.18', (rig) => {
        rig.attach(NOP, { entry });
        rig.map(0x10000000n, Prot.Read, { mayExec: false });
        expect(rig.bytes(NOP - TEXT + 0x10000000n, 1)).toBe('90');
      });
    });

    it('a counter that would fall below zero: the breakpoint stays, and so does the uprobe (2.8)', () => {
      on('k6.18', (rig) => {
        const data = 0x20000000n;
        rig.map(data, Prot.Read | Prot.Write);
        const handle = rig.attach(NOP, { entry }, { refCtrOffset: COUNTER });
        rig.mm.space.write(data + COUNTER, Uint8Array.of(0, 0));
        rig.uprobes.unregister(handle);
        expect(rig.bytes(NOP, 1)).toBe('cc');
        expect(rig.log.some((line) => line.includes('leaking uprobe'))).toBe(true);
        expect(rig.call(NOP)).toEqual({ kind: 'returned' });
        // It is still the one for this place: another counter contradicts it.
        expect(rig.uprobes.register(rig.file, NOP - TEXT, { entry })).toBe('EINVAL');
      });
    });

    it('a counter that was waiting is forgotten when the probe goes first', () => {
      on('k6.18', (rig) => {
        const handle = rig.attach(NOP, { entry }, { refCtrOffset: COUNTER });
        rig.uprobes.unregister(handle);
        rig.attach(MOV, { entry });
        rig.map(0x20000000n, Prot.Read | Prot.Write);
        expect(rig.bytes(0x20000000n + COUNTER, 2)).toBe('0000');
      });
    });

    it('filters: only the new consumer is asked at registration; all are asked for mappings (2.8, C18)', () => {
      on('k6.18', (rig) => {
        rig.attach(NOP, { entry, filter: () => false });
        expect(rig.bytes(NOP, 1)).toBe('90');
        const wants = rig.attach(NOP, { entry, filter: (mm) => mm === rig.mm });
        expect(rig.bytes(NOP, 1)).toBe('cc');
        rig.uprobes.unregister(wants);
        expect(rig.bytes(NOP, 1)).toBe('90');
      });
    });

    it('handlers run whatever their filter says, once the breakpoint is there', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        rig.attach(NOP, {
          entry: () => {
            list.push('declined');
            return HandlerResult.Continue;
          },
          filter: () => false,
        });
        rig.trace(NOP, 'wants', list, 'entry');
        rig.call(NOP);
        expect(list).toEqual(['wants', 'declined']);
      });
    });

    it('munmap: int3 is the program’s own again once no mapping holds a probe (RECALC)', () => {
      on('k6.18', (rig) => {
        rig.attach(NOP, { entry });
        rig.mm.space.unmap(TEXT, 0x10000n);
        const other = memoryInode('/other', Uint8Array.of(0xcc, 0xc3));
        rig.mm.space.map({
          address: 0x500000n,
          placement: 'only',
          size: 0x1000n,
          prot: Prot.Read | Prot.Exec,
          file: other,
        });
        // The first one still comes through uprobes (SI_KERNEL), and finds that the flag is stale.
        expect(rig.call(0x500000n)).toMatchObject({ signal: 5, code: 128, trapNumber: 0n });
        expect(rig.call(0x500000n)).toMatchObject({ signal: 5, code: 128, trapNumber: 3n });
      });
    });

    it('probes a byte apart are independent (3.9)', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        const first = rig.trace(MOV, 'mov', list, 'entry');
        rig.trace(MOV + 1n, 'inside', list, 'entry');
        expect(rig.bytes(MOV, 4)).toBe('ccccf8c3');
        rig.call(MOV);
        // The copies come from the file: what is stepped has no int3 in it.
        expect(list).toEqual(['mov']);
        rig.uprobes.unregister(first);
        expect(rig.bytes(MOV, 4)).toBe('48ccf8c3');
        rig.call(MOV + 1n);
        expect(list).toEqual(['mov', 'inside']);
      });
    });

    it('mremap of the kernel’s own pages: EFAULT to grow (as [vdso] of 6.18.44), EPERM to move', () => {
      on('k6.18', (rig) => {
        rig.attach(MOV, { entry });
        rig.call(MOV);
        const [area = 0n] = rig.specials('[uprobes]');
        const { space } = rig.mm;
        expect(space.remap(area, 0x1000n, 0x2000n, { mayMove: true })).toBe('EFAULT');
        const elsewhere = { mayMove: true, fixed: 0x50000000n };
        expect(space.remap(area, 0x1000n, 0x1000n, elsewhere)).toBe('EPERM');
        expect(space.remap(area, 0x1000n, 0x1000n, { mayMove: true })).toBe(area);
      });
    });

    it('the program unmaps [uprobes]: the next step faults there (misc.txt f11)', () => {
      on('k6.18', (rig) => {
        rig.attach(MOV, { entry });
        rig.call(MOV);
        const [area = 0n] = rig.specials('[uprobes]');
        rig.mm.space.unmap(area, 0x1000n);
        expect(rig.call(MOV)).toMatchObject({ signal: 11, address: area + 0x80n, ip: MOV });
      });
    });

    it('a snapshot brings back breakpoints, consumers, pending returns and sticky failures', () => {
      on('k6.18', (rig) => {
        const list: string[] = [];
        const handle = rig.trace(MOV, 'mov', list, 'both');
        rig.call(MOV);
        const state = [rig.kernel.capture(), rig.uprobes.capture()] as const;
        const counters = { ...rig.uprobes.counters };
        rig.uprobes.unregister(handle);
        rig.trace(NOP, 'nop', list, 'entry');
        rig.call(NOP);
        expect([rig.bytes(MOV, 1), rig.bytes(NOP, 1)]).toEqual(['48', 'cc']);
        rig.kernel.restore(state[0]);
        rig.uprobes.restore(state[1]);
        expect([rig.bytes(MOV, 1), rig.bytes(NOP, 1)]).toEqual(['cc', '90']);
        expect(rig.uprobes.counters).toEqual(counters);
        list.length = 0;
        rig.call(MOV);
        rig.call(NOP);
        expect(list).toEqual(['mov', 'mov:ret']);
        rig.uprobes.unregister(handle);
        expect(rig.bytes(MOV, 1)).toBe('48');
      });
    });
  });
