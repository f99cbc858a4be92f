/**
 * guest/tracefs.elf traces itself through the files of /sys/kernel/tracing. tracefs.k6.18.txt is what it
 * printed on Linux 6.18.15 (Debian's cloud kernel in QEMU, one CPU, as root).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { Machine, MemoryTree } from '../../src/index.ts';
import { engines } from '../helpers/engines.ts';

const GUEST = join(import.meta.dirname, 'guest');
const elf = readFileSync(join(GUEST, 'tracefs.elf'));

/** Without what differs from run to run: process ids, times, flags, event ids. */
const plain = (text: string): string =>
  text
    .replace(/^ +guest-\d+ +\[\d+\] \S{5} +\d+\.\d+: /gm, '* ')
    .replace(/^\[ *\d+\.\d+\]/gm, '[TIME]')
    .replace(/^ID: \d+$/gm, 'ID: N');

for (const { name, missing, load } of engines)
  describe(`engine ${name}`, () => {
    let engine: EngineFactory;
    beforeAll(async () => {
      if (missing === null) engine = await load();
    });

    it('shows a program what Linux 6.18 showed it', async (ctx) => {
      if (missing !== null) return ctx.skip(missing);
      const printed: Uint8Array[] = [];
      const machine = Machine.create({
        engine,
        profile: 'k6.18',
        program: {
          path: '/tmp/trapline-golden/guest',
          tree: new MemoryTree({ guest: { bytes: elf, mode: 0o755 } }),
          file: 'guest',
        },
        io: {
          stdout: (bytes) => {
            printed.push(bytes.slice());
            return null;
          },
        },
      });
      expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
      machine.dispose();
      const golden = readFileSync(join(GUEST, 'tracefs.k6.18.txt'), 'utf8');
      expect(plain(Buffer.concat(printed).toString())).toBe(plain(golden));
    });
  });
