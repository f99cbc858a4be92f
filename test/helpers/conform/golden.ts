/**
 * Reads `insn-exec-KERNEL.txt`, recorded runs each written as the difference from the state they began
 * with, into the form of a table that `trapline conform` takes.
 *
 * ```
 * region NAME ADDRESS SIZE PERM [INITIAL BYTES]
 * case NAME BYTES entry= [site= code= alt=] errno= how= optimised= [masked=REG,…]
 *  plain|probed|probed_x3 [end=cap0|cap1] [signal=SIGNO,CODE,ADDR,IP,TRAPNO,ERR] [hits=N] [flags=F]
 *         [REG=VALUE …] [k1=VALUE] [ymmN=HEX | xmmN=HEX …] [ADDRESS:HEX …]
 * ```
 * `same` is the plain run's state. A case without `code` has its instruction at `entry`, and behind it a jump
 * to cap0, two nops and a jump to cap1. Registers start as the line `regs` says; r10, where that has none, as `alt`. `-` stands for nothing.
 */

type Json = Record<string, unknown>;

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

const signalOf = (text: string): Json => {
  const [signo, code, addr = '-', ip, trapno, err] = text.split(',');
  return {
    signo: Number(signo),
    code: Number(code),
    addr: orNull(addr),
    ip,
    trapno: Number(trapno),
    err: Number(err),
  };
};

/** What the line `vectors` says. */
interface Vectors {
  readonly count: number;
  readonly k1: string;
  ymm(n: number): string;
}

const vectorsIn = (text: string): Vectors => {
  const [, last, factor, addend, k1] =
    /ymm0\.\.(\d+) = .*\((\d+)\*i\+(\d+)\) mod 256; k1 = (0x[0-9a-f]+)/.exec(text) ?? [];
  const byte = (index: number): number => (Number(factor) * index + Number(addend)) & 0xff;
  return {
    count: Number(last) + 1,
    k1: `0x${BigInt(k1 ?? 0).toString(16)}`,
    ymm: (n) => Buffer.from(Array.from({ length: 32 }, (_, i) => byte(32 * n + i))).toString('hex'),
  };
};

const vectorsOf = (fields: ReadonlyMap<string, string>, { count, k1, ymm }: Vectors): Json => {
  const numbers = Array.from({ length: count }, (_, n) => n);
  if (fields.has('signal'))
    return { xmm: numbers.map((n) => fields.get(`xmm${n}`) ?? ymm(n).slice(0, 32)) };
  return {
    ymm: numbers.map((n) => fields.get(`ymm${n}`) ?? ymm(n)),
    k1: fields.get('k1') ?? k1,
  };
};

/** Lines of one key and its text. */
type Head = Readonly<Record<string, string>>;

const stateOf = (words: readonly string[], test: CaseJson, head: Head): Json => {
  const { regs } = test;
  const { flags = '', vectors = '' } = head;
  const fields = fieldsOf(words);
  if (words.includes('same')) return { ...(test.plain as Json), hits: Number(fields.get('hits')) };
  const changed = Object.keys(regs).map((name) => [name, fields.get(name) ?? regs[name]!] as const);
  const signal = fields.get('signal');
  const hits = fields.get('hits');
  return {
    regs: Object.fromEntries(changed),
    flags: fields.get('flags') ?? flags,
    end: fields.get('end') ?? null,
    ...(signal !== undefined && { signal: signalOf(signal) }),
    ...(hits !== undefined && { hits: Number(hits) }),
    ...vectorsOf(fields, vectorsIn(vectors)),
    mem: words.filter((word) => /^0x[0-9a-f]+:/.test(word)).map((word) => word.split(':')),
  };
};

/** One case, in the form of the table's `cases`. */
export interface CaseJson extends Json {
  readonly name: string;
  readonly bytes: string;
  readonly regs: Readonly<Record<string, string>>;
  readonly errno: string;
  readonly how: string | null;
  readonly optimised: boolean;
}

const jump = (from: number, to: number): Buffer => {
  const bytes = Buffer.from([0xe9, 0, 0, 0, 0]);
  bytes.writeInt32LE(to - (from + bytes.length), 1);
  return bytes;
};

/** The instruction, and what `exec-record.c` puts behind it. */
const codeOf = (bytes: string, entry: number, { cap0, cap1 }: Head): string => {
  const end = entry + bytes.length / 2;
  const nops = Buffer.from([0x90, 0x90]);
  const behind = [jump(end, Number(cap0)), nops, jump(end + 7, Number(cap1))];
  return bytes + Buffer.concat(behind).toString('hex');
};

const caseOf = (
  words: readonly string[],
  regs: Readonly<Record<string, string>>,
  head: Head,
): CaseJson => {
  const [name = '', bytes = ''] = words;
  const fields = fieldsOf(words);
  const field = (key: string, otherwise = ''): string => fields.get(key) ?? otherwise;
  const alt = orNull(field('alt', '-'));
  return {
    name,
    bytes,
    entry: field('entry'),
    site: field('site', field('entry')),
    code: field('code') || codeOf(bytes, Number(field('entry')), head),
    alt,
    regs: { ...(alt !== null && { r10: alt }), ...regs },
    masked: field('masked').split(',').filter(Boolean),
    errno: field('errno'),
    how: orNull(field('how')),
    optimised: field('optimised') === 'yes',
    plain: null,
    probed: null,
    probed_x3: null,
  };
};

const regionOf = ([name, addr, size, perm, ...init]: readonly string[]): Json => ({
  name,
  addr,
  size: Number(size),
  perm,
  ...(init.length > 0 && { init: init.join(' ') }),
});

export interface ExecTableJson extends Json {
  readonly cases: readonly CaseJson[];
}

/** A golden as a table. */
export const execTableOf = (text: string): ExecTableJson => {
  const head: Record<string, string> = {};
  let regs: Record<string, string> = {};
  const regions: Json[] = [];
  const cases: CaseJson[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [key = '', ...words] = line.trim().split(' ');
    if (line.startsWith(' ')) {
      const test: Json = cases.at(-1)!;
      test[key] = stateOf(words, cases.at(-1)!, head);
    } else if (key === 'case') cases.push(caseOf(words, regs, head));
    else if (key === 'region') regions.push(regionOf(words));
    else if (key === 'regs') regs = Object.fromEntries(fieldsOf(words));
    else head[key] = words.join(' ');
  }
  return { ...head, regions, cases };
};
