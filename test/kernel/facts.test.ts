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

const lines = (text: string): string[] => text.trimEnd().split('\n');

/** Exit status as a shell shows it; what else ended the slice as text. */
const shellStatus = (end: SliceEnd): string => {
  if (end.kind !== 'exited') return end.kind;
  return `${end.reason.kind === 'exit' ? end.reason.status : 128 + end.reason.signal}`;
};

/**
 * QEMU's floating point never raises an unmasked SSE exception, and of the x87 ones only division by
 * zero, which it also takes 0/0 for: no trap reaches the kernel. `traps.test.ts` has these cases.
 */
const NOT_RAISED =
  /^(x87-(invalid|precision|stack|overflow|underflow)|sse-(divide|invalid|overflow|underflow|precision|overflow-and-precision)) /;

/** QEMU jumps first and faults on the fetch, where the CPU refuses the jump itself. */
const asQemuJumps = (line: string): string =>
  line.startsWith('jump-noncanonical ') ? line.replace('ip=site+0', 'ip=0x1234567812345678') : line;

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it('faults become the signals of Linux 6.18', async (ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const booted = bootFile(await engine.load(), join(FACTS, 'faults.elf'));
      expect(shellStatus(runToEnd(booted))).toBe('0');
      if (engine.name === 'core') {
        expect(lines(booted.output())).toEqual(golden('faults'));
        return;
      }
      const raised = (all: string[]): string[] => all.filter((line) => !NOT_RAISED.test(line));
      expect(raised(lines(booted.output()))).toEqual(raised(golden('faults')).map(asQemuJumps));
    });

    it.for(['frames', 'signals'])('%s are those of Linux 6.18', async (name, ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const booted = bootFile(await engine.load(), join(FACTS, `${name}.elf`));
      expect(shellStatus(runToEnd(booted))).toBe('0');
      expect(lines(booted.output())).toEqual(golden(name));
    });

    it.for(golden('fatal'))('ends as on Linux 6.18: %s', async (line, ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const name = line.slice(0, line.indexOf(' '));
      const booted = bootFile(await engine.load(), join(FACTS, 'fatal.elf'), [name]);
      const status = shellStatus(runToEnd(booted));
      const output = booted.output().trim();
      expect(`${name} status=${status}${output && ` output=${output}`}`).toBe(line);
    });
  });
