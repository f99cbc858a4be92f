import { beforeAll, describe, expect, it } from 'vitest';
import { functionName, functionOffset, manyFunctions } from '../../src/bench/many.ts';
import {
  type EngineFactory,
  Machine,
  MemoryTree,
  type MultiHandlers,
  type MultiOptions,
  type MultiTarget,
} from '../../src/index.ts';
import { engines } from '../helpers/engines.ts';

const COUNT = 12;

/** Twelve functions that are called once each, in order of their numbers. */
const machineOf = (engine: EngineFactory, profile = 'k7.3'): Machine => {
  const tree = new MemoryTree({ many: { bytes: manyFunctions(COUNT), mode: 0o755 } });
  return Machine.create({ engine, profile, program: { path: '/many', tree, file: 'many' } });
};

const nothing = (): undefined => undefined;
const ENTRY: MultiHandlers = { entry: nothing };

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory | undefined;
    beforeAll(async () => {
      if (engine.missing === null) factory = await engine.load();
    });
    const test = (
      title: string,
      run: (machine: Machine) => Promise<void> | void,
      profile?: string,
    ) =>
      it(title, async (ctx) => {
        if (factory === undefined) return ctx.skip(engine.missing ?? '');
        using machine = machineOf(factory, profile);
        await run(machine);
      });

    test('hands each place its cookie, in the order of the request', async (machine) => {
      const seen: bigint[] = [];
      const link = machine.uprobeMulti(
        { symbols: [functionName(7), functionName(2)] },
        {
          entry: (_, { cookie }) => {
            seen.push(cookie);
            return undefined;
          },
        },
        { cookies: [70n, 20n] },
      );
      expect(link.sites).toEqual([
        { path: '/many', offset: functionOffset(COUNT, 7), refCtrOffset: 0n, cookie: 70n },
        { path: '/many', offset: functionOffset(COUNT, 2), refCtrOffset: 0n, cookie: 20n },
      ]);
      await machine.run();
      expect(seen).toEqual([20n, 70n]);
    });

    test('`?` is one character, `*` any number, a dot stands for itself', (machine) => {
      const count = (pattern: string): number =>
        machine.uprobeMulti({ pattern }, ENTRY).sites.length;
      // Numbers 0 to 11: ten of one digit, two of two.
      expect(count('uprobe_multi_func_?')).toBe(10);
      expect(count('uprobe_multi_func_??')).toBe(2);
      expect(count('*')).toBe(COUNT);
      expect(count('uprobe*func*1')).toBe(2);
      expect(() => count('uprobe.multi_func_1')).toThrow(
        expect.objectContaining({ errno: 'ENOENT' }),
      );
    });

    test('several links on one function run newest first, returns too', async (machine) => {
      const seen: string[] = [];
      const note = (text: string) => () => {
        seen.push(text);
        return undefined;
      };
      const target = { symbols: [functionName(0)] };
      for (const name of ['a', 'b', 'c'])
        machine.uprobeMulti(target, { entry: note(name), return: note(`${name}:ret`) });
      await machine.run();
      expect(seen).toEqual(['c', 'b', 'a', 'c:ret', 'b:ret', 'a:ret']);
    });

    test('a handler may close its own link, and others', async (machine) => {
      let hits = 0;
      const others = machine.uprobeMulti(
        { pattern: '*' },
        { entry: () => void hits++ as undefined },
      );
      const own = machine.uprobeMulti(
        { symbols: [functionName(3)] },
        {
          entry: () => {
            own.close();
            others.close();
            return undefined;
          },
        },
      );
      await machine.run();
      // Functions 0 to 2. On 3 the newer link runs first; once detached, no handler runs.
      expect(hits).toBe(3);
      expect(machine.stats().int3_hits).toBe(4);
    });

    test('a link may be closed while its instruction is stepped, and by its return handler', async (machine) => {
      // The second instruction of a function is its ret, which is stepped.
      const offsets = [1, 2, 3].map((n) => functionOffset(COUNT, n) + 1n);
      let steps = 0;
      const stepped = machine.uprobeMulti(
        { offsets },
        {
          entry: () => {
            if (++steps === 2) stepped.close();
            return undefined;
          },
        },
      );
      let returns = 0;
      const returning = machine.uprobeMulti(
        { symbols: [functionName(5), functionName(6)] },
        {
          return: () => {
            returns++;
            returning.close();
            return undefined;
          },
        },
      );
      expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
      // Closed by its own handler the uprobe is gone: that ret runs in its place, without a step.
      expect([steps, returns, machine.stats().single_steps]).toEqual([2, 1, 1]);
    });

    test(
      'a session of an old kernel, and what else cannot be',
      (machine) => {
        const link =
          (target: MultiTarget, options?: MultiOptions, handlers = ENTRY) =>
          () =>
            machine.uprobeMulti(target, handlers, options);
        const fails = (action: () => unknown, errno: string, message: RegExp) => {
          expect(action).toThrow(expect.objectContaining({ code: 'bad-probe', errno }));
          expect(action).toThrow(message);
        };
        fails(
          link({ pattern: 'no_such_*' }),
          'ENOENT',
          /"@:no_such_\*": no function of \/many matches/,
        );
        fails(
          link({ symbols: ['gone'] }),
          'ENOENT',
          /\/many has no function gone \(ENOENT, errno 2\)/,
        );
        fails(link({ offsets: [] }), 'EINVAL', /no places/);
        fails(
          link({ offsets: [1n << 40n] }),
          'EINVAL',
          /place 1 of 1, 0x10000000000": .*outside the file/,
        );
        fails(link({ offsets: [0x1000n] }, { path: '/gone' }), 'ENOENT', /no such file/);
        fails(link({ offsets: [0x1000n] }, { path: '/' }), 'EBADF', /no regular file/);
        fails(link({ offsets: [0x1000n] }, { pid: 77 }), 'ESRCH', /no such process/);
        fails(link({ offsets: [0x1000n] }, { pid: -1 }), 'EINVAL', /negative/);
        fails(link({ pattern: '*' }, { cookies: [1n] }), 'EINVAL', /go with symbols or offsets/);
        fails(link({ offsets: [0x1000n, 0x1005n] }, { cookies: [1n] }), 'EFAULT', /fewer cookies/);
        fails(link({ offsets: [0x1000n] }, { refCtrOffsets: [1n] }), 'EINVAL', /odd offset/);
        fails(link({ offsets: [0x1000n] }, {}, {}), 'EINVAL', /neither an entry nor a return/);
        const both = { entry: nothing, return: nothing };
        fails(link({ offsets: [0x1000n] }, {}, both), 'EINVAL', /before 6\.13/);
      },
      'k6.11',
    );

    test('a name that two functions have is refused, unless one of them is weak', () => {
      const bytes = manyFunctions(COUNT);
      const [one, other] = [1, 2].map((n) => Buffer.from(`${functionName(n)}\0`));
      const file = Buffer.from(bytes.buffer);
      file.set(one ?? [], file.indexOf(other ?? ''));
      const attach = () => {
        const tree = new MemoryTree({ many: { bytes, mode: 0o755 } });
        const program = { path: '/many', tree, file: 'many' };
        using machine = Machine.create({ engine: factory as EngineFactory, program });
        return machine.uprobe(`@:${functionName(1)}`, { entry: () => undefined }).sites;
      };
      const offsets = [1, 2].map((n) => `0x${functionOffset(COUNT, n).toString(16)}`);
      expect(attach).toThrow(
        `2 functions called ${functionName(1)}, at offsets ${offsets.join(', ')}`,
      );
      expect(attach).toThrow(expect.objectContaining({ errno: 'ESRCH' }));
      // st_info of the second: STB_WEAK, STT_FUNC. The symbol table lies behind the code, 24 bytes each.
      const symbols = file.indexOf(functionName(0)) - 1 - 24 * (COUNT + 1);
      file.writeUInt8(0x22, symbols + 24 * 3 + 4);
      expect(attach()).toEqual(
        [{ path: '/many', offset: functionOffset(COUNT, 1) }].map((site) =>
          expect.objectContaining(site),
        ),
      );
    });
  });
