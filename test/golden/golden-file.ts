/** Reads the goldens of `fixtures/traces`; the format is described in `fixtures/README.md`. */

/** How a program ended: `status N` or `signal N`. */
export type End = string;

export interface Golden {
  readonly name: string;
  /** As `uname` told it, `Linux 6.18.44 x86_64`. */
  readonly kernel: string;
  /** Path from the checkout's root. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  /** The program's own instructions leave SF, ZF, AF and PF undefined at hits. */
  readonly undefinedFlags: boolean;
  /** Of files that are built here, by path: the hash of those that were recorded. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Definitions in the order in which they are attached. */
  readonly probes: readonly string[];
  /** One a definition: the event's name and the file offset of its site. */
  readonly sites: readonly { readonly event: string; readonly offset: bigint }[];
  /** In the normal form, one line a hit. */
  readonly trace: readonly string[];
  /** One line a hit; empty for programs with a libc. */
  readonly registers: readonly string[];
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** `EVENT HITS` */
  readonly profile: readonly string[];
  readonly end: End;
}

const ESCAPE = /\\(?:x([0-9a-f]{2})|(.))/g;
const PLAIN: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Bytes of a text with the escapes of cases and goldens. */
const unescaped = (text: string): Uint8Array =>
  Uint8Array.from(
    Buffer.from(
      text.replace(ESCAPE, (_, hex: string | undefined, letter: string) =>
        hex === undefined
          ? (PLAIN[letter] ?? letter)
          : String.fromCharCode(Number.parseInt(hex, 16)),
      ),
      'latin1',
    ),
  );

/** The inverse, as the recorder writes it: one line of output a line. */
export const escaped = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\\\n]|[^ -~]/g, (char) => {
      if (char === '\n') return '\\n\n';
      if (char === '\\') return '\\\\';
      return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
    });

/** Lines of each section by name; the header's are under the empty name. */
const sections = (text: string): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  found.set('', current);
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const title = /^== (\w+)$/.exec(line);
    if (title === null) {
      current.push(line);
      continue;
    }
    current = [];
    found.set(title[1]!, current);
  }
  return found;
};

const pair = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
};

/** Every value a key has in the header, `# key: value`. */
const headerValues = (header: readonly string[], key: string): readonly string[] =>
  header.flatMap((line) =>
    line.startsWith(`# ${key}: `) ? [line.slice(`# ${key}: `.length)] : [],
  );

export const parseGolden = (name: string, text: string): Golden => {
  const found = sections(text);
  const header = (key: string): readonly string[] => headerValues(found.get('') ?? [], key);
  const section = (title: string): readonly string[] => {
    const lines = found.get(title);
    if (lines === undefined) throw new Error(`${name}.golden has no section ${title}`);
    return lines;
  };
  const one = (key: string): string => {
    const [value] = header(key);
    if (value === undefined) throw new Error(`${name}.golden does not tell its ${key}`);
    return value;
  };
  return {
    name,
    kernel: one('kernel'),
    program: one('program'),
    args: header('arg'),
    env: Object.fromEntries(header('env').map((text) => pair(text, '='))),
    stdin: unescaped(header('stdin')[0] ?? ''),
    undefinedFlags: header('flags').includes('undefined'),
    hashes: new Map(
      header('sha256').map((text) => [pair(text, ' ')[1], pair(text, ' ')[0]] as const),
    ),
    probes: section('probes'),
    sites: section('offsets').map((line) => {
      const [event, offset] = pair(line, ' ');
      return { event, offset: BigInt(offset) };
    }),
    trace: section('trace'),
    registers: section('registers'),
    stdout: unescaped(section('stdout').join('')),
    stderr: unescaped(section('stderr').join('')),
    profile: section('profile'),
    end: section('end')[0] ?? '',
  };
};
