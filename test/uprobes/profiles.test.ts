/** Whatever code asks of a profile can be seen with `trapline profiles --diff`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../src/uprobes/index.ts';

const SRC = join(import.meta.dirname, '../../src');

const sources = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return sources(path);
    return entry.name.endsWith('.ts') ? [readFileSync(path, 'utf8')] : [];
  });

const texts = sources(SRC);
const SWITCHES = Object.keys(PROFILES[0]!).filter((key) => key !== 'name' && key !== 'summary');

describe('profiles', () => {
  it('have the same switches', () => {
    for (const profile of PROFILES)
      expect(Object.keys(profile).sort()).toEqual([...SWITCHES, 'name', 'summary'].sort());
  });

  it('are asked for switches that there are, never for a release', () => {
    const asked = new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/\bprofile\.([a-zA-Z0-9]+)/g)].map(([, name]) => name ?? ''),
      ),
    );
    for (const name of ['name', 'summary']) asked.delete(name);
    expect([...asked].filter((name) => !SWITCHES.includes(name))).toEqual([]);
    const byName = texts.filter((text) => /profile\.name\s*[!=]==?\s*['"]k\d/.test(text));
    expect(byName).toEqual([]);
  });

  it('each switch differs between two of them, so that a diff shows it', () => {
    const alike = SWITCHES.filter(
      (name) =>
        new Set(PROFILES.map((profile) => JSON.stringify(profile[name as keyof typeof profile])))
          .size === 1,
    );
    expect(alike).toEqual([]);
  });

  it('no two of them are the same', () => {
    const settings = PROFILES.map(({ name: _, summary: __, ...rest }) => JSON.stringify(rest));
    expect(new Set(settings).size).toBe(PROFILES.length);
  });
});
