/** A line of `uprobe_events`: `p[:[GRP/][EVENT]] SITE [ARG…]` or `r…`. */
import { argSize, type FetchArg, parseArgument } from './argument.ts';
import { type DefinitionFault, faultOf, Refusal } from './fault.ts';
import { autoName, parseEventName } from './name.ts';
import { type PathLookup, parseSite, type Site } from './site.ts';

export interface Definition {
  readonly kind: 'entry' | 'return';
  readonly group: string;
  /** Null until file and offset are known, see {@link bindDefinition}. */
  readonly event: string | null;
  readonly site: Site;
  readonly args: readonly FetchArg[];
  /** The words joined by single blanks: how messages name the probe. */
  readonly command: string;
}

/** A definition whose place is known: file and offset. */
export interface BoundDefinition extends Omit<Definition, 'event' | 'site'> {
  readonly event: string;
  readonly path: string;
  readonly offset: bigint;
  readonly refCtr: bigint;
}

export interface DefinitionOptions {
  /** Refuse what only our command line accepts. Default: false. */
  readonly kernelOnly?: boolean;
  /** What a path leads to. Default: every path is a regular file. */
  readonly lookup?: PathLookup;
}

export type DefinitionResult =
  | { readonly ok: true; readonly definition: Definition }
  | { readonly ok: false; readonly fault: DefinitionFault };

const MAX_ARGS = 128;
/** MAX_PROBE_EVENT_SIZE: bytes of the fixed part of a record. */
const MAX_EVENT_SIZE = 3072;
/** First argument word. */
const ARGS_AT = 2;

const parseArguments = (words: readonly string[], returns: boolean): FetchArg[] => {
  const args: FetchArg[] = [];
  const used = new Set<string>();
  let size = 0;
  for (let word = ARGS_AT; word < words.length; word++) {
    const arg = parseArgument(words[word]!, word, returns, used);
    size += argSize(arg);
    if (size > MAX_EVENT_SIZE) throw new Refusal('EVENT_TOO_BIG', word, arg.at, 'E2BIG');
    used.add(arg.name);
    args.push(arg);
  }
  return args;
};

const parseWords = (words: readonly string[], options: DefinitionOptions): Definition => {
  const [command = '', place] = words;
  if (!/^[pr]/.test(command))
    throw new Refusal(null, 0, 0, 'EINVAL', 'a definition begins with p or r');
  if (place === undefined) throw new Refusal(null, 0, 0, 'EINVAL', 'the site is missing');
  if (words.length - ARGS_AT > MAX_ARGS) throw new Refusal('TOO_MANY_ARGS', ARGS_AT, 0, 'E2BIG');
  const site = parseSite(place, {
    kernelOnly: options.kernelOnly ?? false,
    lookup: options.lookup ?? (() => 'regular'),
  });
  // The kernel reads only `p:` and `r:`; whatever else follows the letter (`r10:x`) it ignores.
  const name = parseEventName(command[1] === ':' ? command.slice(2) : null);
  const kind = command.startsWith('r') || site.returns ? 'return' : 'entry';
  const args = parseArguments(words, kind === 'return');
  return { kind, ...name, site, args, command: words.join(' ') };
};

/** The words of a line; a comment begins at the first `#` wherever it stands. */
export const splitWords = (line: string): string[] =>
  (line.split('#')[0] ?? '').split(/[ \t\n\v\f\r]+/).filter((word) => word !== '');

/** Parses one definition. */
export const parseDefinition = (
  line: string,
  options: DefinitionOptions = {},
): DefinitionResult => {
  const words = splitWords(line);
  try {
    return { ok: true, definition: parseWords(words, options) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, fault: faultOf(error, words) };
    throw error;
  }
};

/**
 * The definition at one place of its file; a symbol or USDT name may give several.
 * @param refCtr the site's semaphore, where the definition names none.
 */
export const bindDefinition = (
  definition: Definition,
  path: string,
  offset: bigint,
  refCtr: bigint = definition.site.refCtr,
): BoundDefinition => ({
  kind: definition.kind,
  group: definition.group,
  event: definition.event ?? autoName(path, offset),
  path,
  offset,
  refCtr,
  args: definition.args,
  command: definition.command,
});

/** The line that reading `uprobe_events` shows. */
export const listingOf = (bound: BoundDefinition): string => {
  const letter = bound.kind === 'entry' ? 'p' : 'r';
  const offset = bound.offset.toString(16).padStart(16, '0');
  const refCtr = bound.refCtr === 0n ? '' : `(0x${bound.refCtr.toString(16)})`;
  const args = bound.args.map((arg) => ` ${arg.name}=${arg.expression}`).join('');
  return `${letter}:${bound.group}/${bound.event} ${bound.path}:0x${offset}${refCtr}${args}`;
};
