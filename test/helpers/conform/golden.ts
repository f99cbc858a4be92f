/**
 * Reads `insn-exec-KERNEL.txt`: recorded runs, each as the difference from the state they began with.
 *
 * ```
 * case NAME BYTES entry= site= code= alt= errno= how= optimised= [masked=REG,…]
 *  plain|probed|probed_x3 [end=cap0|cap1] [signal=SIGNO,CODE,ADDR,IP,TRAPNO,ERR] [hits=N] [flags=F]
 *         [REG=VALUE …] [ymmN=HEX | xmmN=HEX …] [ADDRESS:HEX …]
 * ```
 * r10 starts as `alt`, the other registers as the line `regs` says; `-` stands for nothing.
 */

import { vectorByte } from './regions.ts';
import type { ExecCase, ExecTable, Recorded, RecordedSignal, Variant } from './table.ts';

const orNull = (text: string): string | null => (text === '-' ? null : text);

const fieldsOf = (words: readonly string[]): Map<string, string> =>
  new Map(
    words
      .filter((word) => word.includes('='))
      .map((word) => {
        const at = word.indexOf('=');
        return [word.slice(0, at), word.slice(at + 1)] as const;
      }),
  );

const signalOf = (text: string): RecordedSignal => {
  const [signo, code, addr = '-', ip = '', trapno, err] = text.split(',');
  return {
    signo: Number(signo),
    code: Number(code),
    addr: orNull(addr),
    ip,
    trapno: Number(trapno),
    err: Number(err),
  };
};

const initialXmm = (n: number): string =>
  Buffer.from(Array.from({ length: 16 }, (_, i) => vectorByte(32 * n + i))).toString('hex');

/** The lower halves; upper ones are for engines that have them. */
const xmmOf = (fields: ReadonlyMap<string, string>): string[] =>
  [0, 1, 2, 3].map(
    (n) => fields.get(`xmm${n}`) ?? fields.get(`ymm${n}`)?.slice(0, 32) ?? initialXmm(n),
  );

const stateOf = (
  words: readonly string[],
  regs: Readonly<Record<string, string>>,
  flags: string,
): Recorded => {
  const fields = fieldsOf(words);
  const changed = Object.keys(regs).map((name) => [name, fields.get(name) ?? regs[name]!] as const);
  const signal = fields.get('signal');
  const hits = fields.get('hits');
  return {
    regs: Object.fromEntries(changed),
    flags: fields.get('flags') ?? flags,
    end: (fields.get('end') as 'cap0' | 'cap1' | undefined) ?? null,
    ...(signal !== undefined && { signal: signalOf(signal) }),
    ...(hits !== undefined && { hits: Number(hits) }),
    xmm: xmmOf(fields),
    mem: words
      .filter((word) => /^0x[0-9a-f]+:/.test(word))
      .map((word) => word.split(':') as [string, string]),
  };
};

type Draft = { -readonly [K in keyof ExecCase]: ExecCase[K] };

const caseOf = (words: readonly string[], regs: Readonly<Record<string, string>>): Draft => {
  const [name = '', bytes = ''] = words;
  const fields = fieldsOf(words);
  const field = (key: string): string => fields.get(key) ?? '';
  return {
    name,
    bytes,
    entry: field('entry'),
    site: field('site'),
    code: field('code'),
    alt: field('alt'),
    regs: { ...regs, r10: field('alt') },
    masked: field('masked').split(',').filter(Boolean),
    errno: field('errno'),
    how: orNull(field('how')) as ExecCase['how'],
    optimised: field('optimised') === 'yes',
    plain: { regs: {}, flags: '', end: null, mem: [] },
    probed: null,
    probed_x3: null,
  };
};

export const parseExecGolden = (text: string): ExecTable => {
  const head = new Map<string, string>();
  let regs: Record<string, string> = {};
  const cases: Draft[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [key = '', ...words] = line.trim().split(' ');
    if (line.startsWith(' ')) {
      const test = cases.at(-1)!;
      test[key as Variant] = stateOf(words, test.regs, head.get('flags') ?? '');
    } else if (key === 'case') cases.push(caseOf(words, regs));
    else if (key === 'regs') regs = Object.fromEntries(fieldsOf(words));
    else head.set(key, words.join(' '));
  }
  const field = (key: string): string => head.get(key) ?? '';
  return {
    kernel: field('kernel'),
    cap0: field('cap0'),
    cap1: field('cap1'),
    flags: field('flags'),
    cases,
  };
};
