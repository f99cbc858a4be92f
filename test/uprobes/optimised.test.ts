/** Sites that become calls (spec section 5). Bytes of k6.18 are those of `nop5-kind3.txt` and `redzone.txt`. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { greatest } from '../../src/base/bytes.ts';
import { type EngineFactory, Prot, Reg } from '../../src/cpu/engine.ts';
import { HandlerResult, PROFILE_NAMES, type ProfileName } from '../../src/uprobes/index.ts';
import { type TextWrite, watchTextWrites } from '../../src/uprobes/testing.ts';
import { engines } from '../helpers/engines.ts';
import { END, hexOf, type Rig, type RigOptions, STACK_TOP, TEXT, withRig } from './rig.ts';

const NOP5 = 0x401700n;
const NOP10 = 0x401740n;
const CROSSING = 0x401ffdn;
const RED_ZONE = 0x401800n;
const RED_ZONE_10 = 0x401840n;
const BY_HAND = 0x401900n;
const SP = STACK_TOP - 0x100n;

const TEXT_BYTES: Readonly<Record<string, string>> = {
  '0x401700': '0f 1f 44 00 00 c3',
  '0x401740': '66 2e 0f 1f 84 00 00 00 00 00 c3',
  // Leaf functions: mov %rdi,-8(%rsp); nopN; mov -8(%rsp),%rax; ret
  '0x401800': '48 89 7c 24 f8 0f 1f 44 00 00 48 8b 44 24 f8 c3',
  '0x401840': '48 89 7c 24 f8 66 2e 0f 1f 84 00 00 00 00 00 48 8b 44 24 f8 c3',
  // mov $336,%eax; syscall; ret
  '0x401900': 'b8 50 01 00 00 0f 05 c3',
  '0x401ffd': '0f 1f 44 00 00 c3',
};

const NOP5_PROFILES = ['k6.18', 'k7.1', 'k7.1.5'] as const;

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

    const site = { nop5: NOP5, nop10: NOP10 } as const;

    it.each(NOP5_PROFILES)(
      '%s: int3 until the first hit, a call after it, nop again at the end',
      (profile) => {
        on(profile, (rig) => {
          const via: string[] = [];
          const handle = rig.attach(NOP5, {
            entry: (hit) => {
              via.push(hit.via);
              return HandlerResult.Continue;
            },
          });
          expect(rig.bytes(NOP5, 6)).toBe('cc1f440000c3');
          rig.call(NOP5);
          // The free page nearest to the site: just below the text, as on 6.18.44 (call 3ff000).
          expect(rig.specials('[uprobes-trampoline]')).toEqual([TEXT - 0x1000n]);
          // rel32 = 0x3ff000 - 0x401705 = -0x2705.
          expect(rig.bytes(NOP5, 6)).toBe('e8fbd8ffffc3');
          rig.call(NOP5);
          rig.call(NOP5);
          expect(via).toEqual(['int3', 'uprobe-syscall', 'uprobe-syscall']);
          rig.uprobes.unregister(handle);
          expect(rig.bytes(NOP5, 6)).toBe('0f1f440000c3');
          expect(rig.specials('[uprobes-trampoline]')).toEqual([TEXT - 0x1000n]);
          rig.call(NOP5);
          expect(via.length).toBe(3);
          // Attached again it is an int3 first, and then uses the same trampoline (C6, C7).
          rig.attach(NOP5, { entry: () => HandlerResult.Continue });
          expect(rig.bytes(NOP5, 5)).toBe('cc1f440000');
          rig.call(NOP5);
          expect(rig.bytes(NOP5, 5)).toBe('e8fbd8ffff');
          expect(rig.uprobes.counters.trampolines).toBe(1);
        });
      },
    );

    it('k7.3: lea and call; the removed site is a nop10 with the old call in it (C5-C7)', () => {
      on('k7.3', (rig) => {
        const handle = rig.attach(NOP10, { entry: () => HandlerResult.Continue });
        expect(rig.bytes(NOP10, 11)).toBe('cc2e0f1f840000000000c3');
        rig.call(NOP10);
        // rel32 = 0x3ff000 - 0x40174a = -0x274a.
        expect(rig.bytes(NOP10, 11)).toBe('488d642480e8b6d8ffffc3');
        rig.call(NOP10);
        expect(rig.uprobes.counters).toMatchObject({ int3Hits: 1, optimisedHits: 1 });
        rig.uprobes.unregister(handle);
        expect(rig.bytes(NOP10, 11)).toBe('662e0f1f84e8b6d8ffffc3');
        rig.call(NOP10);
        rig.attach(NOP10, { entry: () => HandlerResult.Continue });
        expect(rig.bytes(NOP10, 11)).toBe('cc2e0f1f84e8b6d8ffffc3');
        rig.call(NOP10);
        expect(rig.bytes(NOP10, 11)).toBe('488d642480e8b6d8ffffc3');
      });
    });

    it('only these profiles optimise; nop5 stays an int3 on nop10 kernels', () => {
      for (const profile of PROFILE_NAMES.filter((name) => !NOP5_PROFILES.some((p) => p === name)))
        on(profile, (rig) => {
          rig.attach(NOP5, { entry: () => HandlerResult.Continue });
          rig.call(NOP5);
          rig.call(NOP5);
          expect(rig.bytes(NOP5, 5)).toBe('cc1f440000');
          expect(rig.uprobes.counters.int3Hits).toBe(2);
        });
      for (const profile of PROFILE_NAMES.filter((name) => name !== 'k7.3'))
        on(profile, (rig) => {
          expect(rig.uprobes.register(rig.file, NOP10 - TEXT, { entry: () => 0 })).toBe('ENOTSUPP');
        });
    });

    it('registers and stack are as at the site, and unchanged afterwards (C2)', () => {
      for (const [profile, kind] of [
        ['k6.18', 'nop5'],
        ['k7.3', 'nop10'],
      ] as const)
        on(profile, (rig) => {
          const seen: bigint[][] = [];
          rig.attach(site[kind], {
            entry: ({ regs }) => {
              seen.push([Reg.Rip, Reg.Rsp, Reg.Rax, Reg.Rcx, Reg.R11].map((reg) => regs.read(reg)));
              return HandlerResult.Continue;
            },
          });
          const before = { [Reg.Rax]: 1n, [Reg.Rcx]: 2n, [Reg.R11]: 3n, [Reg.Rflags]: 0xa97n };
          rig.call(site[kind], before);
          rig.call(site[kind], before);
          expect(seen).toEqual([
            [site[kind], SP, 1n, 2n, 3n],
            [site[kind], SP, 1n, 2n, 3n],
          ]);
          expect([Reg.Rax, Reg.Rcx, Reg.R11].map((reg) => rig.reg(reg))).toEqual([1n, 2n, 3n]);
          expect(rig.reg(Reg.Rsp)).toBe(SP + 8n);
          expect(rig.reg(Reg.Rflags)).toBe(0xa97n);
        });
    });

    it('what lies in the red zone: nop5 writes it, nop10 does not (C13, redzone.txt)', () => {
      on('k6.18', (rig) => {
        rig.attach(RED_ZONE + 5n, { entry: () => HandlerResult.Continue });
        const run = (): bigint => {
          rig.call(RED_ZONE, {
            [Reg.Rdi]: 0x1111n,
            [Reg.Rax]: 0xaan,
            [Reg.Rcx]: 0xccn,
            [Reg.R11]: 0xbbn,
          });
          return rig.reg(Reg.Rax);
        };
        expect(run()).toBe(0x1111n);
        // -8 = site + 5, -16 = cx, -24 = r11, -32 = ax.
        expect(run()).toBe(RED_ZONE + 10n);
        expect([8n, 16n, 24n, 32n].map((below) => rig.mm.space.readU64(SP - below))).toEqual([
          RED_ZONE + 10n,
          0xccn,
          0xbbn,
          0xaan,
        ]);
      });
      on('k7.3', (rig) => {
        rig.attach(RED_ZONE_10 + 5n, { entry: () => HandlerResult.Continue });
        for (let i = 0; i < 3; i++) {
          rig.call(RED_ZONE_10, { [Reg.Rdi]: 0x1111n });
          expect(rig.reg(Reg.Rax)).toBe(0x1111n);
        }
        expect(rig.uprobes.counters.optimisedHits).toBe(2);
      });
    });

    it('handlers change registers, ip and sp (C3, C84)', () => {
      for (const [profile, kind, size] of [
        ['k6.18', 'nop5', 5n],
        ['k7.3', 'nop10', 10n],
      ] as const)
        on(profile, (rig) => {
          let change: 'cx' | 'ip' | 'sp' = 'cx';
          rig.attach(site[kind], {
            entry: ({ regs }) => {
              if (change === 'cx') regs.write(Reg.Rcx, 0x87654321feebdaedn);
              if (change === 'ip') regs.write(Reg.Rip, END);
              if (change === 'sp') regs.write(Reg.Rsp, SP - 0x40n);
              return HandlerResult.Continue;
            },
          });
          rig.call(site[kind]);
          rig.call(site[kind]);
          expect(rig.reg(Reg.Rcx)).toBe(0x87654321feebdaedn);
          change = 'ip';
          rig.call(site[kind]);
          // The trampoline's ret went to END; nothing was popped by the function's own.
          expect(rig.reg(Reg.Rsp)).toBe(SP);
          change = 'sp';
          rig.mm.space.writeU64(SP - 0x40n, END);
          rig.call(site[kind]);
          expect(rig.reg(Reg.Rsp)).toBe(SP - 0x40n + 8n);
          expect(rig.bytes(site[kind] + size, 1)).toBe('c3');
        });
    });

    it('a return probe on an optimised site (C8)', () => {
      for (const [profile, kind] of [
        ['k6.18', 'nop5'],
        ['k7.3', 'nop10'],
      ] as const)
        on(profile, (rig) => {
          const list: string[] = [];
          rig.trace(site[kind], 'f', list, 'both');
          for (let i = 0; i < 3; i++) rig.call(site[kind]);
          expect(list).toEqual(['f', 'f:ret', 'f', 'f:ret', 'f', 'f:ret']);
          expect(rig.uprobes.counters).toMatchObject({ int3Hits: 1, optimisedHits: 2 });
        });
    });

    it('system call 336 from elsewhere (C16)', () => {
      const answers: Record<string, bigint> = {
        // ENOSYS, ENXIO, EPROTO
        'k6.16': -38n,
        'k6.18': -6n,
        'k7.1.5': -6n,
        'k7.3': -71n,
      };
      for (const [profile, answer] of Object.entries(answers))
        on(profile as ProfileName, (rig) => {
          expect(rig.call(BY_HAND)).toEqual({ kind: 'returned' });
          expect(BigInt.asIntN(64, rig.reg(Reg.Rax))).toBe(answer);
        });
    });

    it('a call of the trampoline from an unprobed place returns (misc.txt f7, f8)', () => {
      on('k6.18', (rig) => {
        const handle = rig.attach(NOP5, { entry: () => HandlerResult.Continue });
        rig.call(NOP5);
        rig.uprobes.unregister(handle);
        const [trampoline = 0n] = rig.specials('[uprobes-trampoline]');
        expect(rig.call(trampoline, { [Reg.Rax]: 1234n })).toEqual({ kind: 'returned' });
        expect(rig.reg(Reg.Rax)).toBe(1234n);
      });
    });

    it('the trampoline page (6.18.44: dump.txt; nop10: spec 5.2)', () => {
      const head = '5141535048c7c0500100000f0558415b59';
      for (const [profile, kind, tail] of [
        ['k6.18', 'nop5', 'c3cc00'],
        ['k7.3', 'nop10', 'c28000cc00'],
      ] as const)
        on(profile, (rig) => {
          rig.attach(site[kind], { entry: () => HandlerResult.Continue });
          rig.call(site[kind]);
          const [page = 0n] = rig.specials('[uprobes-trampoline]');
          expect(rig.specialBytes(page, (head + tail).length / 2)).toBe(head + tail);
          const vma = rig.mm.space.find(page);
          expect(vma?.prot).toBe(Prot.Read | Prot.Exec);
          expect(vma?.special?.copiedOnFork).toBe(profile === 'k7.3');
        });
    });

    it('a site that crosses a page stays an int3 (g_pagecross), a nop10 there is refused (C88)', () => {
      on('k6.18', (rig) => {
        rig.attach(CROSSING, { entry: () => HandlerResult.Continue });
        rig.call(CROSSING);
        rig.call(CROSSING);
        expect(rig.bytes(CROSSING, 5)).toBe('cc1f440000');
      });
      const nop10 = '66 2e 0f 1f 84 00 00 00 00 00 c3';
      on(
        'k7.3',
        (rig) => {
          const register = (address: bigint) =>
            rig.uprobes.register(rig.file, address - TEXT, { entry: () => 0 });
          expect(register(0x401ff7n)).toBe('ENOTSUPP');
          rig.attach(0x402ff6n, { entry: () => HandlerResult.Continue });
          rig.call(0x402ff6n);
          expect(rig.bytes(0x402ff6n, 6)).toBe('488d642480e8');
        },
        { text: { '0x401ff7': nop10, '0x402ff6': nop10 }, fileSize: 0x4000 },
      );
    });

    it('every write on the way, in order (spec 5.4, 5.7)', () => {
      const steps = (profile: ProfileName, kind: keyof typeof site): string[] => {
        const seen: string[] = [];
        on(profile, (rig) => {
          const size = kind === 'nop5' ? 5 : 10;
          watchTextWrites(rig.uprobes, ({ site: at }: TextWrite) => seen.push(rig.bytes(at, size)));
          const handle = rig.attach(site[kind], { entry: () => HandlerResult.Continue });
          rig.call(site[kind]);
          rig.uprobes.unregister(handle);
        });
        return seen;
      };
      expect(steps('k6.18', 'nop5')).toEqual([
        'cc1f440000',
        'ccfbd8ffff',
        'e8fbd8ffff',
        'ccfbd8ffff',
        'cc1f440000',
        '0f1f440000',
      ]);
      expect(steps('k7.3', 'nop10')).toEqual([
        'cc2e0f1f840000000000',
        'cc8d642480e8b6d8ffff',
        '488d642480e8b6d8ffff',
        'cc8d642480e8b6d8ffff',
        'cc2e0f1f84e8b6d8ffff',
        '662e0f1f84e8b6d8ffff',
      ]);
    });

    it('a thread that hits the int3 between two writes is an ordinary hit', () => {
      on('k7.3', (rig) => {
        const hits: string[] = [];
        const handle = rig.trace(NOP10, 'f', hits, 'entry');
        rig.call(NOP10);
        let nested = false;
        watchTextWrites(rig.uprobes, ({ bytes }) => {
          if (nested || hexOf(bytes) !== 'cc') return;
          nested = true;
          expect(rig.call(NOP10)).toEqual({ kind: 'returned' });
        });
        rig.uprobes.unregister(handle);
        expect(nested).toBe(true);
        expect(rig.bytes(NOP10, 5)).toBe('662e0f1f84');
        // The consumer was already off the list when the first byte was written.
        expect(hits).toEqual(['f']);
      });
    });

    it('two sites 5 GiB apart have two trampolines (C86)', () => {
      on('k6.18', (rig) => {
        const far = TEXT + 5n * (1n << 30n);
        rig.map(far, Prot.Read | Prot.Exec);
        rig.attach(NOP5, { entry: () => HandlerResult.Continue });
        rig.call(NOP5);
        rig.call(NOP5 - TEXT + far);
        const trampolines = rig.specials('[uprobes-trampoline]');
        expect(trampolines).toEqual([TEXT - 0x1000n, far - 0x1000n]);
        expect(rig.bytes(NOP5 - TEXT + far, 1)).toBe('e8');
      });
    });

    it('a site within reach of two trampolines: nop5 takes the newest, nop10 the lowest (spec 5.2)', () => {
      const GIB = 1n << 30n;
      const used = (profile: ProfileName, at: bigint, size: bigint, order: readonly bigint[]) => {
        let target = 0n;
        on(profile, (rig) => {
          rig.map(TEXT + 3n * GIB, Prot.Read | Prot.Exec);
          rig.map(TEXT + GIB + GIB / 2n, Prot.Read | Prot.Exec);
          rig.attach(at, { entry: () => HandlerResult.Continue });
          for (const where of order) rig.call(at + where);
          const bytes = Buffer.from(rig.bytes(at + GIB + GIB / 2n, Number(size)), 'hex');
          target = at + GIB + GIB / 2n + size + BigInt(bytes.readInt32LE(Number(size) - 4));
          expect(rig.specials('[uprobes-trampoline]').length).toBe(2);
        });
        return target;
      };
      const low = TEXT - 0x1000n;
      const high = TEXT + 3n * GIB - 0x1000n;
      const between = GIB + GIB / 2n;
      expect(used('k6.18', NOP5, 5n, [0n, 3n * GIB, between])).toBe(high);
      expect(used('k6.18', NOP5, 5n, [3n * GIB, 0n, between])).toBe(low);
      expect(used('k7.3', NOP10, 10n, [0n, 3n * GIB, between])).toBe(low);
      expect(used('k7.3', NOP10, 10n, [3n * GIB, 0n, between])).toBe(low);
    });

    it('two sites share a trampoline', () => {
      on('k6.18', (rig) => {
        for (const at of [NOP5, RED_ZONE + 5n]) {
          rig.attach(at, { entry: () => HandlerResult.Continue });
          rig.call(at === NOP5 ? NOP5 : RED_ZONE);
          expect(rig.bytes(at, 1)).toBe('e8');
        }
        expect(rig.specials('[uprobes-trampoline]').length).toBe(1);
      });
    });

    it('no page within reach: int3 for ever, in all mappings (C87, slots.txt)', () => {
      on('k6.18', (rig) => {
        const blocks: bigint[] = [];
        const fill = (low: bigint, high: bigint): void => {
          for (let at = low; at < high; ) {
            const next = rig.mm.space.findOrNext(at);
            const end = next === undefined || next.start > high ? high : next.start;
            if (end > at) {
              const made = rig.mm.space.map({
                address: at,
                placement: 'only',
                size: end - at,
                prot: Prot.None,
              });
              expect(made).toBe(at);
              blocks.push(at);
            }
            at = next === undefined ? high : greatest(next.end, end);
          }
        };
        fill(0x10000n, NOP5 + (1n << 31n) + 0x1000n);
        rig.attach(NOP5, { entry: () => HandlerResult.Continue });
        rig.call(NOP5);
        expect(rig.bytes(NOP5, 5)).toBe('cc1f440000');
        rig.mm.space.unmap(blocks[0] ?? 0n, 0x10000n);
        rig.call(NOP5);
        expect(rig.bytes(NOP5, 5)).toBe('cc1f440000');
        expect(rig.uprobes.counters).toMatchObject({ int3Hits: 2, trampolines: 0 });
      });
    });

    it('another process detaches: bug of k6.18 and k7.1 leaves the call (spec 5.7)', () => {
      for (const [profile, bytes] of [
        ['k6.18', 'e8fbd8ffff'],
        ['k7.1', 'e8fbd8ffff'],
        ['k7.1.5', '0f1f440000'],
      ] as const)
        on(profile, (rig) => {
          const handle = rig.attach(NOP5, { entry: () => HandlerResult.Continue });
          rig.call(NOP5);
          rig.uprobes.unregister(handle, { caller: null });
          expect(rig.bytes(NOP5, 5)).toBe(bytes);
          expect(rig.call(NOP5)).toEqual({ kind: 'returned' });
        });
    });

    it('another process attaches: k6.18 and k7.1 write an int3 over the call, later ones nothing (spec 5.7)', () => {
      for (const [profile, bytes] of [
        ['k6.18', 'ccfbd8ffff'],
        ['k7.1', 'ccfbd8ffff'],
        ['k7.1.5', 'e8fbd8ffff'],
      ] as const)
        on(profile, (rig) => {
          const list: string[] = [];
          rig.trace(NOP5, 'first', list, 'entry');
          rig.call(NOP5);
          const entry = () => {
            list.push('second');
            return HandlerResult.Continue;
          };
          rig.uprobes.register(rig.file, NOP5 - TEXT, { entry }, { caller: null });
          expect(rig.bytes(NOP5, 5)).toBe(bytes);
          expect(rig.call(NOP5)).toEqual({ kind: 'returned' });
          expect(list).toEqual(['first', 'second', 'first']);
          expect(rig.bytes(NOP5, 5)).toBe('e8fbd8ffff');
        });
    });

    it('the second consumer writes nothing (spec 5.6), the trampoline gone is a fault (misc.txt f10)', () => {
      on('k6.18', (rig) => {
        rig.attach(NOP5, { entry: () => HandlerResult.Continue });
        rig.call(NOP5);
        const pokes = rig.uprobes.counters.textPokes;
        const list: string[] = [];
        rig.trace(NOP5, 'second', list, 'entry');
        expect(rig.uprobes.counters.textPokes).toBe(pokes);
        rig.call(NOP5);
        expect(list).toEqual(['second']);
        const [page = 0n] = rig.specials('[uprobes-trampoline]');
        rig.mm.space.unmap(page, 0x1000n);
        expect(rig.call(NOP5)).toMatchObject({ signal: 11, code: 1, address: page, ip: page });
      });
    });
  });
