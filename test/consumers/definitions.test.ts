import { describe, expect, it } from 'vitest';
import { errnoNumber } from '../../src/abi/errno.ts';
import {
  bindDefinition,
  listingOf,
  parseDefinition,
} from '../../src/consumers/event/definition.ts';
import { eventContext } from '../../src/consumers/event/event.ts';
import { type DefinitionFault, faultLog } from '../../src/consumers/event/fault.ts';
import type { PathLookup } from '../../src/consumers/event/site.ts';
import { TraceEvents } from '../../src/consumers/tracefs/events.ts';
import type { Inode } from '../../src/memory/backing.ts';
import { memoryInode } from '../helpers/memory-inode.ts';
import {
  type Case,
  DIR,
  expand,
  FILES,
  makeFiles,
  readCases,
  writeCases,
} from './definition-golden.ts';
import { registrar } from './registrar.ts';
import { askKernel, noKernel, withTracefs } from './tracefs.ts';

/** The files of the recording machine that the goldens name. */
const lookup: PathLookup = (path) => {
  const clean = path.replace('/../trapline-golden', '').replace('//', '/');
  if (FILES.includes(clean)) return 'regular';
  if (['/dev/null', DIR, ''].includes(clean.replace(/\/$/, ''))) return 'other';
  if (clean.split('/').some((part) => part.length > 255)) return 'ENAMETOOLONG';
  return FILES.some((file) => clean.startsWith(`${file}/`)) ? 'ENOTDIR' : 'ENOENT';
};

const inodes = new Map(FILES.map((file) => [file, memoryInode(file, new Uint8Array())]));
const inodeOf = (path: string): Inode =>
  inodes.get(path.replace('/../trapline-golden', '').replace('//', '/'))!;

const refused = (fault: DefinitionFault): string[] => [
  `${fault.errno} ${errnoNumber(fault.errno)}`,
  ...faultLog(fault),
];

/** Our answer in the form of {@link askKernel}. */
const ask = (setup: readonly string[], definition: string): string[] => {
  const events = new TraceEvents(eventContext(registrar()));
  const define = (line: string): string[] => {
    const result = parseDefinition(line, { kernelOnly: true, lookup });
    if (!result.ok) return refused(result.fault);
    const { site } = result.definition;
    if (site.spot.kind !== 'offset') throw new Error('a kernel knows offsets only');
    const bound = bindDefinition(result.definition, site.path, site.spot.offset);
    const added = events.add(bound, inodeOf(site.path));
    return added.ok ? [listingOf(bound)] : refused(added.fault);
  };
  for (const line of setup) define(line);
  return define(definition);
};

const askAll = (cases: readonly Case[]): Case[] =>
  withTracefs(() => {
    makeFiles();
    return cases.map(({ setup, definition }) => ({
      setup,
      definition,
      answer: askKernel(DIR, setup.map(expand), expand(definition)),
    }));
  });

describe('uprobe_events definitions', () => {
  if (process.env.UPDATE_GOLDENS === '1') writeCases(askAll(readCases()));
  const cases = readCases();

  it('are many, good and bad', () => {
    const good = cases.filter(({ answer }) => /^[pr]:/.test(answer[0] ?? ''));
    expect(good.length).toBeGreaterThan(60);
    expect(cases.length - good.length).toBeGreaterThan(60);
  });

  for (const { setup, definition, answer } of cases)
    it([...setup, definition].join('; ').slice(0, 200), () => {
      expect(ask(setup.map(expand), expand(definition))).toEqual(answer);
    });

  it('are what this machine’s kernel answers', (ctx) => {
    const note = noKernel();
    if (note !== null) return ctx.skip(note);
    expect(askAll(cases)).toEqual(cases);
  });
});
