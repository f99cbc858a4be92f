import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FuzzCase } from '../../src/fuzz/case.ts';
import { Corpus } from '../../src/fuzz/search/corpus.ts';
import { mergeCorpora } from '../../src/fuzz/search/merge.ts';

const RET: FuzzCase = {
  v: 1,
  profile: 'k6.18',
  at: 0x100,
  code: 'c3',
  probes: [{ site: 0, consumers: [{ kind: 'entry' }] }],
  calls: 1,
  regs: {},
  seed: 0,
};

const FINDING = {
  cause: 'tf-leak',
  title: 'a sentence',
  case: RET,
  instructions: ['ret'],
  profiles: ['k6.18'],
  difference: 'ax',
} as const;

let folder: string;
let complaints: string[];
const open = (name = 'a'): Corpus =>
  new Corpus(join(folder, name), (text) => complaints.push(text));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trapline-corpus-'));
  complaints = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('corpus', () => {
  it('gives back what it was given', () => {
    const corpus = open();
    corpus.keep('ret', RET);
    corpus.keepFinding(FINDING);
    corpus.keepProgress({ seed: 7, stream: 3 });
    expect([...open().cases()]).toEqual([['ret', RET]]);
    expect(open().findings()).toEqual([FINDING]);
    expect(open().progress(7).stream).toBe(3);
    // Another seed is another campaign.
    expect(open().progress(8).stream).toBe(0);
  });

  it.each([
    ['no JSON', '{'],
    ['an empty file', ''],
    ['another version', JSON.stringify({ key: 'k', case: { ...RET, v: 2 } })],
    ['code that is no hex', JSON.stringify({ key: 'k', case: { ...RET, code: 'xy' } })],
    ['null', 'null'],
  ])('names %s and sets it aside', (_, text) => {
    open().keep('ret', RET);
    const path = join(folder, 'a/cases/bad.json');
    writeFileSync(path, text);
    expect(open().cases().size).toBe(1);
    expect(complaints).toEqual([expect.stringContaining(path)]);
    expect(readdirSync(join(folder, 'a/cases'))).not.toContain('bad.json');
    expect(readFileSync(join(folder, 'a/broken/bad.json'), 'utf8')).toBe(text);
    writeFileSync(path, text);
    open().cases();
    expect(readdirSync(join(folder, 'a/broken'))).toEqual(['bad.json', 'bad.json.1']);
  });

  it('starts over when its state is broken, and keeps the state', () => {
    open();
    writeFileSync(join(folder, 'a/state.json'), '[]');
    expect(open().progress(1)).toEqual({ seed: 1, stream: 0 });
    expect(complaints).toHaveLength(1);
  });

  it('is joined with others', () => {
    open('a').keep('one', RET);
    open('b').keep('one', RET);
    open('b').keep('two', { ...RET, code: '90c3' });
    open('b').keepFinding(FINDING);
    expect(mergeCorpora(open('a'), [open('b'), open('c')])).toEqual({ cases: 1, findings: 1 });
    expect([...open('a').cases().keys()].sort()).toEqual(['one', 'two']);
  });
});
