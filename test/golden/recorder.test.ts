import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingRecorder, readGolden, record } from '../helpers/fixtures.ts';
import { parseGolden } from './golden-file.ts';

/** Cases that every kernel of the supported releases answers alike. */
const CASES = ['args', 'tail', 'stack'];

describe('the recorder', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'trapline-record-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.for(CASES)('finds on this kernel what the golden says: %s', (name, ctx) => {
    const lacking = missingRecorder();
    if (lacking !== null) ctx.skip(lacking);
    expect(record(name, directory)).toBe('');
    const recorded = parseGolden(name, readFileSync(join(directory, `${name}.golden`), 'utf8'));
    expect({ ...recorded, kernel: '' }).toEqual({ ...readGolden(name), kernel: '' });
  });

  it('leaves no event, instance or mount point behind', (ctx) => {
    const lacking = missingRecorder();
    if (lacking !== null) ctx.skip(lacking);
    const events = readFileSync('/sys/kernel/tracing/uprobe_events', 'utf8');
    expect(events).not.toMatch(/:trapline_\d+\//);
    expect(existsSync('/trapline')).toBe(false);
  });
});
