/** C programs that watch themselves through perf_event_open: what Linux 6.18 answered, line by line. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EngineFactory, Machine, MemoryTree } from '../../../src/index.ts';
import { engines } from '../../helpers/engines.ts';
import { missing } from '../../helpers/requirements.ts';

const FACTS = join(import.meta.dirname, 'facts');
/** `tracepoint` was recorded on Debian's 6.18.15 in QEMU, the others on 6.18.44. */
const PROGRAMS = ['open', 'sample', 'callchain', 'count', 'ring', 'tracepoint'];
const noCompiler = missing('gcc');

/** Ids are handed out from one counter of the whole system. */
const withoutIds = (line: string): string =>
  line.replace(/^( {2}type 2 misc 0 size 24:) 0x[0-9a-f]+$/, '$1 id');

/** Bit 1 of common_flags: somebody else was about to be scheduled. */
const withoutScheduler = (line: string): string => line.replace(/, flags [02],/, ', flags,');

/**
 * The period begins anew whenever the task is scheduled in; that happened between the request and
 * the hits while this line was recorded (6 samples; 7 where nobody else runs).
 */
const DEPENDS_ON_SCHEDULING = /^period 3, one call, then period 2: [67]$/;

const lines = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map(withoutIds)
    .map(withoutScheduler)
    .filter((line) => !DEPENDS_ON_SCHEDULING.test(line));

/** What the program printed under Linux 6.18 (`facts/record.sh`). */
const expected = (name: string): string[] =>
  lines(readFileSync(join(FACTS, `${name}.k6.18.txt`), 'utf8'));

let build = '';

beforeAll(() => {
  if (noCompiler !== null) return;
  build = mkdtempSync(join(tmpdir(), 'trapline-perf-'));
  for (const name of PROGRAMS) {
    const flags = ['-static', '-O1', '-fno-omit-frame-pointer', '-w'];
    const source = join(FACTS, `${name}.c`);
    const made = spawnSync('gcc', [...flags, '-o', join(build, name), source]);
    if (made.status !== 0) throw new Error(`${name}.c: ${made.stderr}`);
  }
});
afterAll(() => {
  if (build !== '') rmSync(build, { recursive: true });
});

const run = async (engine: EngineFactory, name: string): Promise<string[]> => {
  let out = '';
  const decoder = new TextDecoder();
  const bytes = readFileSync(join(build, name));
  const machine = Machine.create({
    engine,
    profile: 'k6.18',
    program: {
      path: `/${name}`,
      tree: new MemoryTree({ [name]: { bytes, mode: 0o755 } }),
      file: name,
    },
    // The stack is to reach as far above sp as a real one, whose place is random.
    env: { PADDING: 'x'.repeat(100_000) },
    io: {
      stdout: (piece) => {
        out += decoder.decode(piece, { stream: true });
        return null;
      },
    },
  });
  const end = await machine.run();
  machine.dispose();
  expect(end, out).toEqual({ kind: 'exit', status: 0 });
  return lines(out);
};

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it.for(PROGRAMS)('%s: every answer as on Linux 6.18', async (name, ctx) => {
      ctx.skip(engine.missing !== null || noCompiler !== null, engine.missing ?? noCompiler ?? '');
      expect(await run(await engine.load(), name)).toEqual(expected(name));
    });
  });
