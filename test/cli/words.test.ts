import { afterEach, describe, expect, it, vi } from 'vitest';
import { reportError, UsageError } from '../../src/cli/errors.ts';
import { paintInstruction, paintVerdict } from '../../src/cli/paint.ts';
import { TraplineError } from '../../src/index.ts';

/** Colours that can be read. */
const colors = {
  bold: (text: string) => `<${text}>`,
  green: (text: string) => `[${text}]`,
  yellow: (text: string) => `{${text}}`,
  red: (text: string) => `!${text}`,
} as unknown as Parameters<typeof paintInstruction>[1];

describe('colours', () => {
  it.each([
    ['mov -0x8(%rbp,%rax,4),%xmm0', '<mov> {-0x8}([%rbp],[%rax],{4}),[%xmm0]'],
    ['mov $0xdeadbeef,%eax', '<mov> {$0xdeadbeef},[%eax]'],
    ['call 0x401000', '<call> {0x401000}'],
    ['ret', '<ret>'],
    ['(bad)', '<(bad)>'],
  ])('%s', (text, painted) => {
    expect(paintInstruction(text, colors)).toBe(painted);
  });

  it('of a verdict keep its width', () => {
    expect(['refuse ', 'emulate', 'step   '].map((word) => paintVerdict(word, colors))).toEqual([
      '!refuse ',
      '[emulate]',
      '{step   }',
    ]);
  });
});

describe('an error', () => {
  afterEach(() => vi.restoreAllMocks());

  const report = (error: unknown) => {
    let stderr = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      stderr += text;
      return true;
    });
    return { status: reportError(error), stderr };
  };

  it.each<[string, unknown, number, string]>([
    ['of use', new UsageError('no'), 2, 'trapline: no\n'],
    ['of an option', new TraplineError('bad-option', 'no'), 2, 'trapline: no\n'],
    ['of a limit', new TraplineError('limit', 'no more'), 124, 'trapline: no more\n'],
    ['with advice', new TraplineError('bad-elf', 'a', { hint: 'b' }), 125, 'trapline: a; b\n'],
    ['of two lines', new TraplineError('bad-probe', 'a\n  b'), 125, 'trapline: a b\n'],
  ])('%s', (_name, error, status, stderr) => {
    expect(report(error)).toEqual({ status, stderr });
  });

  it('that nobody expected is one line that says how to report it', () => {
    for (const error of [new Error('lost\nmind'), new TypeError(''), 'text', undefined]) {
      const { status, stderr } = report(error);
      expect(status).toBe(125);
      expect(stderr).toMatch(/^trapline: internal error: [^\n]*please report it [^\n]*\n$/);
    }
  });
});
