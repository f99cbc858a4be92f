import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { missing } from '../helpers/requirements.ts';
import { temporaryDirectory, trapline } from './cli.ts';

const LINKER = '/lib64/ld-linux-x86-64.so.2';

describe('a dynamic program whose library is not in view', () => {
  const folder = temporaryDirectory();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ends with the linker’s own status and a line that names library and option', (ctx) => {
    const lacking = missing('gcc') ?? missing('libunicorn2');
    if (lacking !== null) return ctx.skip(lacking);
    const program = join(folder, 'hello');
    writeFileSync(`${program}.c`, 'int main(void) { return 0; }\n');
    execFileSync('gcc', ['-o', program, `${program}.c`]);
    mkdirSync(join(folder, 'root', 'lib64'), { recursive: true });
    copyFileSync(LINKER, join(folder, 'root', LINKER));
    const root = join(folder, 'root');
    const outcome = trapline(['run', '--engine', 'unicorn-native', '--root', root, program]);
    const [linker, ours, ...more] = outcome.stderr.trim().split('\n');
    // glibc's own words, and the status its manual gives for it.
    expect(linker).toContain('error while loading shared libraries: libc.so.6');
    expect(ours).toBe(
      "trapline: libc.so.6, which the program needs, is not in the guest's file view; show it with --root DIR or --mount HOST:GUEST",
    );
    expect(more).toEqual([]);
    expect(outcome.status).toBe(127);
  });
});
