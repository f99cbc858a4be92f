/** test/goldens/fetch-args.txt: definitions on fetch-args.elf and the lines Linux 6.18.44 printed. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { DIR } from './definition-golden.ts';
import { listEvents, removeEvent, writeEvents } from './tracefs.ts';

const GOLDENS = join(import.meta.dirname, '..', 'goldens');
const FILE = join(GOLDENS, 'fetch-args.txt');
export const PROGRAM = join(GOLDENS, 'fetch-args.elf');

/** What the definitions call the program; 15 characters of it become the task's name. */
const RECORDED = `${DIR}/fetch-args`;
const GROUP = 'trapline_fetch';

export interface TraceCase {
  /** `{site}` and the like stand for the program and the offset of its label. */
  readonly definition: string;
  /** From the event's name on; bytes outside of printable ASCII as \xNN. */
  readonly lines: readonly string[];
}

/** A body of a trace line as the golden has it. */
export const escapeBody = (body: Uint8Array): string =>
  [...body]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');

/** The definition under the name of its event, `{site}` replaced. */
export const placed = (definition: string, path: string): string =>
  definition.replace(/\{0x([0-9a-f]+)\}/, `${path}:0x$1`);

export const readTraceCases = (): TraceCase[] =>
  readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .reduce<{ definition: string; lines: string[] }[]>((cases, line) => {
      if (line.startsWith('> ')) cases.push({ definition: line.slice(2), lines: [] });
      else cases.at(-1)!.lines.push(line.slice(2));
      return cases;
    }, []);

/** Runs the program once under all definitions; the bodies of its trace lines by event. */
export const recordTrace = (
  instance: string,
  definitions: readonly string[],
): ReadonlyMap<string, string[]> => {
  mkdirSync(DIR, { recursive: true });
  copyFileSync(PROGRAM, RECORDED);
  try {
    for (const definition of definitions) {
      const errno = writeEvents(placed(definition, RECORDED).replace(':', `:${GROUP}/`));
      if (errno !== null) throw new Error(`${definition}: ${errno}`);
    }
    writeFileSync(`${instance}/events/${GROUP}/enable`, '1');
    spawnSync(RECORDED, { argv0: RECORDED });
    writeFileSync(`${instance}/events/${GROUP}/enable`, '0');
    return bodiesByEvent(readFileSync(`${instance}/trace`));
  } finally {
    for (const line of listEvents(DIR)) removeEvent(line);
  }
};

const bodiesByEvent = (trace: Buffer): ReadonlyMap<string, string[]> => {
  const bodies = new Map<string, string[]>();
  const entries = trace.toString('latin1').split(/^ +fetch-args-\d+ +\[\d+\] \S{5} +\d+\.\d{6}: /m);
  for (const entry of entries.slice(1)) {
    const body = escapeBody(Buffer.from(entry.replace(/\n$/, ''), 'latin1'));
    const event = body.split(':')[0]!;
    bodies.set(event, [...(bodies.get(event) ?? []), body]);
  }
  return bodies;
};

export const eventOf = (definition: string): string => /^[pr]:(\w+) /.exec(definition)![1]!;

const HEAD = `# Fetch arguments of fetch-args.elf as Linux ${release()}, x86-64, printed them.
# "> " a definition, {0x1076} standing for the program and an offset: 0x1076 site, 0x109a again,
# 0x10b0 func. "  " its trace lines from the event on; bytes outside of printable ASCII as \\xNN.
# Add a "> " line and run UPDATE_GOLDENS=1 npx vitest run test/consumers as root on Linux 6.18.
`;

export const writeTraceCases = (cases: readonly TraceCase[]): void => {
  const blocks = cases.map(({ definition, lines }) =>
    [`> ${definition}`, ...lines.map((line) => `  ${line}`)].join('\n'),
  );
  writeFileSync(FILE, `${[HEAD.trimEnd(), ...blocks].join('\n\n')}\n`);
};
