import { describe, expect, it } from 'vitest';
import { jsonLines, trapline } from './cli.ts';

describe('trapline profiles', () => {
  it('shows every release in one table without colours', () => {
    const { status, stdout, stderr } = trapline(['profiles']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const name of ['k6.10', 'k6.11', 'k6.14', 'k6.16', 'k6.18', 'k7.1', 'k7.1.5', 'k7.3'])
      expect(stdout).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')} +\\S`, 'm'));
    expect(stdout).not.toContain('\u001b');
    // Spec section 1.2: which sites become calls, oldest release first.
    expect(stdout).toMatch(/optimise .*none.*none.*none.*none.*nop5.*nop5.*nop5.*nop10/);
  });

  it('shows one of them, by name or alias', () => {
    const [byName] = jsonLines(trapline(['profiles', '--json', '--kernel', 'k7.1.5']).stdout);
    const [byAlias] = jsonLines(trapline(['profiles', '--json', '--kernel', 'nop5']).stdout);
    expect(byAlias).toEqual(byName);
    expect(byName).toMatchObject({ v: 1, type: 'profiles', default: 'k7.3' });
    expect(byName?.profiles).toHaveLength(1);
  });

  it('tells two apart', () => {
    const { stdout } = trapline(['profiles', '--diff', 'nop5', 'nop10', '--json']);
    // Spec section 1.2, columns k7.1.5 and k7.3.
    expect(jsonLines(stdout)).toEqual([
      {
        v: 1,
        type: 'profile-diff',
        a: 'k7.1.5',
        b: 'k7.3',
        differences: [
          { switch: 'optimise', a: 'nop5', b: 'nop10' },
          { switch: 'optimiseWrongPlaceErrno', a: 'ENXIO', b: 'EPROTO' },
          { switch: 'trampolineCopiedOnFork', a: false, b: true },
          { switch: 'acceptNop10', a: false, b: true },
        ],
      },
    ]);
    expect(trapline(['profiles', '--diff', 'k6.18', 'k6.18']).stdout).toBe(
      'k6.18 and k6.18 do not differ\n',
    );
  });
});
