import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type EngineFactory, Machine, MemoryTree, type PerfSample } from '../../src/index.ts';
import { engines } from '../helpers/engines.ts';

const CALC = readFileSync(join(import.meta.dirname, '../../demo/calc.elf'));

const calc = (engine: EngineFactory, expression: string): Machine =>
  Machine.create({
    engine,
    program: {
      path: '/calc',
      tree: new MemoryTree({ calc: { bytes: CALC, mode: 0o755 } }),
      file: 'calc',
    },
    argv: ['calc', expression],
  });

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

    test('counts the calls of a function; nothing else', async () => {
      using machine = calc(engine, '5!');
      const counter = machine.perf.open('p @:factorial');
      const returns = machine.perf.open('r @:factorial');
      await machine.run();
      // 5, 4, 3, 2, 1: the deepest call is the one for 1.
      expect([counter.read().count, returns.read().count]).toEqual([5, 5]);
      expect(counter.read().timeEnabledNs).toBeGreaterThan(0n);
      expect(counter.read().timeRunningNs).toBe(counter.read().timeEnabledNs);
    });

    test('hands out samples with arguments, registers, stack and callers', async () => {
      using machine = calc(engine, '3!');
      const samples: PerfSample[] = [];
      machine.perf.open('p @:factorial n=%di:u32', {
        sample: ['IP', 'TID', 'TIME', 'CPU', 'PERIOD', 'CALLCHAIN', 'RAW'],
        registers: ['di', 'ip', 'sp'],
        stackBytes: 16,
        onSample: (sample) => samples.push(sample),
      });
      await machine.run();
      expect(samples.map(({ args }) => args.map(({ text }) => text))).toEqual([
        ['3'],
        ['2'],
        ['1'],
      ]);
      for (const sample of samples) {
        expect(sample.pid).toBe(machine.pid);
        expect([sample.cpu, sample.period]).toEqual([0, 1n]);
        expect(sample.registers?.ip).toBe(sample.ip);
        expect(sample.callchain?.[0]).toBe(sample.ip);
        expect(sample.stack).toHaveLength(16);
        // 16 bytes of head and one u32, padded so that size + 4 is a multiple of 8.
        expect(sample.raw).toHaveLength(20);
      }
      expect(samples.map(({ registers }) => registers?.di)).toEqual([3n, 2n, 1n]);
    });

    test('samples every second hit, and stops when told so', async () => {
      using machine = calc(engine, '6!');
      const samples: bigint[] = [];
      const link = machine.perf.open('p @:factorial n=%di:u32', {
        sample: ['IP'],
        samplePeriod: 2n,
        onSample: ({ args: [n] }) => {
          if (n?.value.kind === 'number') samples.push(n.value.value);
          if (samples.length === 2) link.disable();
        },
      });
      await machine.run();
      expect(samples).toEqual([5n, 3n]);
      expect(link.read().count).toBe(4);
      link.reset();
      expect(link.read().count).toBe(0);
    });

    test('leaves the arguments alone when its program says 0', async () => {
      using machine = calc(engine, '4!');
      machine.perf.open('p @:factorial +0(%di):string', {
        program: ({ regs }) => (regs.read(7) === 2n ? 1 : 0),
      });
      await machine.run();
      expect(machine.stats().argument_builds).toBe(1);
    });

    test('takes the breakpoint out again, and goes on from a snapshot', async () => {
      using machine = calc(engine, '5!');
      const link = machine.perf.open('p @:factorial');
      const before = machine.capture();
      await machine.run();
      expect(link.read().count).toBe(5);
      machine.restore(before);
      expect(link.read().count).toBe(0);
      await machine.run();
      expect(link.read().count).toBe(5);
      machine.restore(before);
      link.close();
      link.close();
      await machine.run();
      expect(link.read().count).toBe(0);
      expect(machine.stats()['trap.int3']).toBe(0);
    });

    test('shows its files, whatever the root has in their place', async () => {
      const tree = new MemoryTree({ calc: { bytes: CALC, mode: 0o755 } });
      const program = { path: '/calc', tree, file: 'calc' };
      for (const root of [
        new MemoryTree({ sys: 'a file' }),
        new MemoryTree({ sys: { link: 'sys' } }),
      ])
        Machine.create({ engine, program, root }).dispose();
    });

    test('refuses what the kernel refuses, by its errno', async () => {
      using machine = calc(engine, '1');
      const open =
        (options: object, text = 'p @:factorial') =>
        () => {
          machine.perf.open(text, options);
        };
      expect(open({ stackBytes: 7 })).toThrow('EINVAL');
      expect(open({ maxStack: 128, sample: ['CALLCHAIN'] })).toThrow('EOVERFLOW');
      expect(open({ sample: ['BRANCH_STACK'] })).toThrow('EINVAL');
      expect(open({ pid: 77 })).toThrow('ESRCH');
      expect(open({ samplePeriod: 1n << 63n })).toThrow('EINVAL');
      expect(open({}, 'p @:nowhere')).toThrow('ENOENT');
      expect(open({}, 'p @:0x10000000')).toThrow('EINVAL');
      await machine.run();
      expect(machine.stats()['trap.int3']).toBe(0);
    });
  });
