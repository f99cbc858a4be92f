import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SliceEnd } from '../../src/kernel/kernel.ts';
import { engines } from '../helpers/engines.ts';
import { bootFile, runToEnd } from '../helpers/kernel.ts';

const FACTS = join(import.meta.dirname, 'facts');

/** Recorded lines of this machine's kernel, without the line that names it (`facts/record.sh`). */
const golden = (name: string): string[] =>
  readFileSync(join(FACTS, `${name}.golden`), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1);

const shellStatus = (end: SliceEnd): string => {
  if (end.kind !== 'exited')
    return JSON.stringify(end, (_, v) => (typeof v === 'bigint' ? `0x${v.toString(16)}` : v));
  return end.reason.kind === 'exit' ? `${end.reason.status}` : `${128 + end.reason.signal}`;
};

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it.each(['faults', 'frames', 'signals'])('%s: every line as on Linux 6.18', async (name) => {
      const booted = bootFile(await engine.load(), join(FACTS, `${name}.elf`));
      const end = runToEnd(booted);
      expect(booted.output().trimEnd().split('\n')).toEqual(golden(name));
      expect(shellStatus(end)).toBe('0');
    });

    it.each(golden('fatal'))('ends as on Linux 6.18: %s', async (line) => {
      const name = line.slice(0, line.indexOf(' '));
      const booted = bootFile(await engine.load(), join(FACTS, 'fatal.elf'), [name]);
      const status = shellStatus(runToEnd(booted));
      const output = booted.output().trim();
      expect(`${name} status=${status}${output && ` output=${output}`}`).toBe(line);
    });
  });
