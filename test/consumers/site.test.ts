import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../src/consumers/event/definition.ts';
import { faultError } from '../../src/consumers/event/fault.ts';

const site = (line: string) => {
  const result = parseDefinition(line);
  if (!result.ok) throw faultError(result.fault);
  const { kind, site } = result.definition;
  return { kind, ...site };
};

const message = (line: string): string => {
  const result = parseDefinition(line, {
    lookup: (path) => (path === 'prog' || path === '@' ? 'regular' : 'ENOENT'),
  });
  return result.ok ? 'accepted' : faultError(result.fault).message;
};

describe('sites of the command line', () => {
  it.each([
    ['p @:0x10', { path: '@', spot: { kind: 'offset', offset: 0x10n } }],
    ['p prog:16(0x20)', { path: 'prog', spot: { kind: 'offset', offset: 16n }, refCtr: 0x20n }],
    ['p @:main', { path: '@', spot: { kind: 'symbol', symbol: 'main', addend: 0n } }],
    ['p ./a:f.part.0+0x1f', { path: './a', spot: { symbol: 'f.part.0', addend: 0x1fn } }],
    ['p /l/libc.so.6:_ZN1a1bEv+4', { path: '/l/libc.so.6', spot: { symbol: '_ZN1a1bEv' } }],
    ['p @:main(0x20)', { spot: { symbol: 'main' }, refCtr: 0x20n }],
    ['p @:main+1%return', { kind: 'return', spot: { symbol: 'main', addend: 1n } }],
    ['r @:main', { kind: 'return', spot: { symbol: 'main' } }],
    ['p @:%prov:name', { path: '@', spot: { kind: 'usdt', provider: 'prov', name: 'name' } }],
    ['p a:b:%p_1:n_2', { path: 'a:b', spot: { kind: 'usdt', provider: 'p_1', name: 'n_2' } }],
  ])('%s', (line, expected) => {
    expect(site(line)).toMatchObject(expected);
  });

  it.each([
    ['p', 'probe "p": the site is missing (EINVAL, errno 22)'],
    ['', 'probe "": a definition begins with p or r (EINVAL, errno 22)'],
    [
      'p prog',
      'probe "p prog": the site must be PATH:OFFSET, PATH:SYMBOL[+N] or PATH:%PROVIDER:NAME (EINVAL, errno 22)',
    ],
    [
      'p gone:main',
      'probe "p gone:main": Failed to find the given file at "gone:main" (ENOENT, errno 2)',
    ],
    ['p @:main+z', 'probe "p @:main+z": Invalid uprobe offset at "z" (EINVAL, errno 22)'],
    ['p @:0x10 %zz', 'probe "p @:0x10 %zz": Invalid register name at "%zz" (EINVAL, errno 22)'],
    [
      'p @:0x10 a=%di:',
      'probe "p @:0x10 a=%di:": Unknown type is specified at the end of a word (EINVAL, errno 22)',
    ],
  ])('%s is refused in one line', (line, expected) => {
    expect(message(line)).toBe(expected);
  });

  it('are unknown to a kernel', () => {
    for (const line of ['p @:0x10', 'p /a:main', 'p /a:%p:n', 'p a:1'])
      expect(parseDefinition(line, { kernelOnly: true })).toMatchObject({
        ok: false,
        fault: { errno: 'EINVAL', log: null },
      });
  });
});
