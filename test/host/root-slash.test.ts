import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { HostTree } from '../../src/host/node/index.ts';

describe('HostTree of /', () => {
  it('opens files: paths have one slash in front', () => {
    const file = new HostTree('/').open('etc/hostname', 'read');
    expect(typeof file).toBe('object');
    if (typeof file === 'string') return;
    const bytes = new Uint8Array(Number(file.size()));
    file.read(0n, bytes);
    file.close();
    expect(new TextDecoder().decode(bytes)).toBe(
      execFileSync('cat', ['/etc/hostname'], { encoding: 'utf8' }),
    );
  });
});
