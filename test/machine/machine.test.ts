import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { benchProgram, staticElf } from '../../src/bench/program.ts';
import {
  type EngineFactory,
  HandlerResult,
  Machine,
  type MachineOptions,
  MemoryTree,
  Reg,
  type TraceRecord,
} from '../../src/index.ts';
import { engines } from '../helpers/engines.ts';

const CALC = readFileSync(join(import.meta.dirname, '../../demo/calc.elf'));

/** The demo program in a tree of its own; what it prints is collected. */
const calc = (engine: EngineFactory, expression: string, more: Partial<MachineOptions> = {}) => {
  const out: string[] = [];
  const machine = Machine.create({
    engine,
    program: {
      path: '/calc',
      tree: new MemoryTree({ calc: { bytes: CALC, mode: 0o755 } }),
      file: 'calc',
    },
    argv: ['calc', expression],
    io: {
      stdout: (bytes) => {
        out.push(new TextDecoder().decode(bytes));
        return null;
      },
    },
    ...more,
  });
  return { machine, output: () => out.join('') };
};

for (const { name, load, missing } of engines)
  describe(`engine ${name}`, () => {
    let engine: EngineFactory;
    beforeAll(async () => {
      if (missing === null) engine = await load();
    });
    const test = (title: string, run: () => Promise<void>) =>
      it(title, async (ctx) => {
        if (missing !== null) return ctx.skip(missing);
        await run();
      });

    test('runs a program to its exit status', async () => {
      const { machine, output } = calc(engine, '6 * 7');
      expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
      expect(output()).toBe('6 * 7 = 42\n');
      machine.dispose();
    });

    test('a shadow stack: probed returns hold since 6.11, and kill the program before', async () => {
      const run = async (profile: string) => {
        const { machine, output } = calc(engine, '3!', { shadowStack: true, profile });
        let returns = 0;
        machine.uprobe('@:factorial', { return: () => void returns++ });
        const end = await machine.run();
        machine.dispose();
        return [end, output(), returns];
      };
      // factorial(3) calls itself down to 1.
      expect(await run('k7.3')).toEqual([{ kind: 'exit', status: 0 }, '3! = 6\n', 3]);
      expect(await run('k6.10')).toMatchObject([{ kind: 'signal', signal: 11 }, '', 0]);
    });

    test('a handler that changes a register changes the result', async () => {
      const { machine, output } = calc(engine, '3!');
      let calls = 0;
      machine.uprobe('@:factorial', {
        entry: ({ regs }) => {
          if (calls++ === 0) regs.write(Reg.Rdi, 5n);
          return HandlerResult.Continue;
        },
      });
      await machine.run();
      expect(output()).toBe('3! = 120\n');
      machine.dispose();
    });

    test('a return handler that changes ax changes the result', async () => {
      const { machine, output } = calc(engine, '3!');
      machine.uprobe('@:evaluate', {
        return: ({ regs }) => {
          regs.write(Reg.Rax, 77n);
          return undefined;
        },
      });
      await machine.run();
      expect(output()).toBe('3! = 77\n');
      machine.dispose();
    });

    test('a session hands a cookie from entry to return', async () => {
      const { machine } = calc(engine, '4!');
      const cookies: bigint[] = [];
      machine.uprobe('@:factorial', {
        entry: (hit) => {
          if (hit.cookie !== null) hit.cookie.value = hit.regs.read(Reg.Rdi);
          return HandlerResult.Continue;
        },
        return: (hit) => {
          cookies.push(hit.cookie?.value ?? -1n);
          return undefined;
        },
      });
      await machine.run();
      expect(cookies).toEqual([1n, 2n, 3n, 4n]);
      machine.dispose();
    });

    test('a closed link is silent, and the program’s text is as before', async () => {
      const { machine, output } = calc(engine, '3!');
      const link = machine.uprobe('@:factorial', {
        entry: () => {
          throw new Error('called after close');
        },
      });
      link.close();
      link.close();
      await machine.run();
      expect(output()).toBe('3! = 6\n');
      machine.dispose();
    });

    test('a snapshot taken between two slices runs on to the same records', async () => {
      const { machine } = calc(engine, '5!');
      const records: TraceRecord[] = [];
      machine.tracefs.sink = { wantsRegisters: true, emit: (record) => records.push(record) };
      machine.tracefs.define('p:f @:factorial n=%di:s64');
      machine.tracefs.define('r:g @:factorial value=$retval:s64');
      expect(await machine.run({ maxInstructions: 60 })).toEqual({
        kind: 'limit',
        limit: 'instructions',
      });
      const snapshot = machine.capture();
      const before = records.length;
      const first = await machine.run();
      const once = records.splice(before);
      expect(once.length).toBeGreaterThan(0);
      machine.restore(snapshot);
      expect(await machine.run()).toEqual(first);
      expect(records.slice(before)).toEqual(once);
      machine.dispose();
    });

    test('a limit ends a run, and the run goes on afterwards', async () => {
      const { machine, output } = calc(engine, '2 + 2');
      let slices = 0;
      let end = await machine.run({ maxInstructions: 50 });
      while (end.kind === 'limit') {
        slices++;
        end = await machine.run({ maxInstructions: 50 });
      }
      expect(end).toEqual({ kind: 'exit', status: 0 });
      expect(slices).toBeGreaterThan(1);
      expect(output()).toBe('2 + 2 = 4\n');
      machine.dispose();
    });

    test('a slice ends after 5,000 traps, however few instructions they are', async () => {
      // 1: mov $39,%eax; syscall (getpid); jmp 1b
      const bytes = staticElf([0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7]);
      const machine = Machine.create({
        engine,
        program: {
          path: '/ask',
          tree: new MemoryTree({ ask: { bytes, mode: 0o755 } }),
          file: 'ask',
        },
      });
      const abort = new AbortController();
      const end = await machine.run({ abort: abort.signal, onSlice: () => abort.abort() });
      expect(end).toEqual({ kind: 'limit', limit: 'aborted' });
      // One of the traps was the page fault of the first instruction.
      expect(machine.stats()['syscall.getpid']).toBe(4_999);
      machine.dispose();
    });

    test('an abort ends a run', async () => {
      const { machine } = calc(engine, '1');
      const abort = new AbortController();
      abort.abort();
      expect(await machine.run({ abort: abort.signal })).toEqual({
        kind: 'limit',
        limit: 'aborted',
      });
      machine.dispose();
    });

    test('refuses a probe on nothing, naming symbol and errno', () => {
      const { machine } = calc(engine, '1');
      const attach = (site: string) => () => machine.uprobe(site, { entry: () => undefined });
      expect(attach('@:nothing')).toThrow(
        expect.objectContaining({
          code: 'bad-probe',
          errno: 'ENOENT',
          message: 'probe "@:nothing": /calc has no function nothing (ENOENT, errno 2)',
        }),
      );
      expect(attach('/else:main')).toThrow(expect.objectContaining({ errno: 'ENOENT' }));
      expect(attach('no colon')).toThrow(expect.objectContaining({ errno: 'EINVAL' }));
      expect(attach('@:0xffffff')).toThrow(expect.objectContaining({ errno: 'EINVAL' }));
      machine.dispose();
      return Promise.resolve();
    });

    // One trap each: the hit that optimises; all others come by system call 336 (spec section 5.3).
    for (const [target, profile] of [
      ['nop5', 'k6.18'],
      ['nop10', 'k7.3'],
    ] as const)
      test(`a ${target} site is a call from its second hit on under ${profile}`, async () => {
        const machine = Machine.create({
          engine,
          profile,
          program: {
            path: '/loop',
            tree: new MemoryTree({ loop: { bytes: benchProgram(target, 50), mode: 0o755 } }),
            file: 'loop',
          },
        });
        const via = new Map<string, number>();
        machine.uprobe('@:0x1020', {
          entry: (hit) => {
            via.set(hit.via, (via.get(hit.via) ?? 0) + 1);
            return HandlerResult.Continue;
          },
        });
        expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
        expect(Object.fromEntries(via)).toEqual({ int3: 1, 'uprobe-syscall': 49 });
        const stats = machine.stats();
        expect([stats.int3_hits, stats.optimised_hits, stats['syscall.336']]).toEqual([1, 49, 49]);
        machine.dispose();
      });

    test('says of a probe that no mapping covers that it never fired', async () => {
      // The bench program maps its file from offset 0x1000 on.
      const machine = Machine.create({
        engine,
        program: {
          path: '/loop',
          tree: new MemoryTree({ loop: { bytes: benchProgram('nop', 2), mode: 0o755 } }),
          file: 'loop',
        },
      });
      machine.tracefs.define('p:seen @:0x1020');
      machine.tracefs.define('p:unseen @:0x10');
      await machine.run();
      expect(machine.tracefs.silent()).toEqual([
        expect.stringMatching(/^probe "p:unseen @:0x10" was never inserted: .*offset 0x10$/),
      ]);
      expect(machine.tracefs.profile().map(({ hits }) => hits)).toEqual([2, 0]);
      machine.dispose();
    });

    test('two machines side by side share nothing', async () => {
      const a = calc(engine, '1 + 1');
      const b = calc(engine, '2 + 2');
      const hits: string[] = [];
      a.machine.uprobe('@:apply', {
        entry: () => {
          hits.push('a');
          return HandlerResult.Continue;
        },
      });
      await Promise.all([a.machine.run(), b.machine.run()]);
      expect(hits).toEqual(['a']);
      expect(a.output() + b.output()).toBe('1 + 1 = 2\n2 + 2 = 4\n');
      a.machine.dispose();
      b.machine.dispose();
    });
  });
