/** Lines written to `uprobe_events`. */
import type { ErrnoName } from '../../abi/errno.ts';
import { listingOf, splitWords } from '../event/definition.ts';
import type { Probe } from '../event/probe.ts';

/** WRITE_BUFSIZE less the terminator: the longest line. */
const MAX_LINE = 4095;

/**
 * Runs every line of a write; stops at the first that is refused. Comments begin at `#`.
 * @param run one line without its end and comment
 */
export const runCommands = (
  text: string,
  run: (line: string) => ErrnoName | null,
): ErrnoName | null => {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    if (line.length > MAX_LINE) return 'EINVAL';
    const error = run(line.split('#')[0]!);
    if (error !== null) return error;
  }
  return null;
};

/** What `-:[GRP/]EVENT [PATH:OFFSET [ARG…]]` names. */
interface Deletion {
  /** Null = any group. */
  readonly group: string | null;
  /** Empty = every event. */
  readonly event: string;
  /** Words as in the listing. */
  readonly words: readonly string[];
}

const parseDeletion = (line: string): Deletion | 'EINVAL' => {
  const [command = '', ...words] = splitWords(line);
  if (!command.startsWith('-:')) return 'EINVAL';
  const name = command.slice(2);
  const slash = name.indexOf('/');
  const group = slash < 0 ? null : name.slice(0, slash);
  const event = name.slice(slash + 1);
  return group === null && event === '' ? 'EINVAL' : { group, event, words };
};

/** Whether a probe is one that is to go. */
const isNamed = (probe: Probe, { group, event, words }: Deletion): boolean => {
  const { definition } = probe;
  if (group !== null && definition.group !== group) return false;
  if (event !== '' && definition.event !== event) return false;
  const [, ...listed] = listingOf(definition).split(' ');
  return words.length <= listed.length && words.every((word, i) => word === listed[i]);
};

/**
 * Deletes the probes that a line names, in order, up to the first that is in use.
 * @param remove takes one probe out, or says why not
 */
export const deleteProbes = (
  line: string,
  probes: readonly Probe[],
  remove: (probe: Probe) => ErrnoName | null,
): ErrnoName | null => {
  const deletion = parseDeletion(line);
  if (deletion === 'EINVAL') return deletion;
  const named = probes.filter((probe) => isNamed(probe, deletion));
  for (const probe of named) {
    const error = remove(probe);
    if (error !== null) return error;
  }
  return named.length === 0 ? 'ENOENT' : null;
};
