/** Group and event names. */
import { type FaultCode, Refusal } from './fault.ts';

const DEFAULT_GROUP = 'uprobes';
/** MAX_EVENT_NAME_LEN less the terminator. */
const MAX_NAME = 63;

export interface EventName {
  readonly group: string;
  /** Null = to be made from file and offset, see {@link autoName}. */
  readonly event: string | null;
}

/** Parses what follows `p:`; `null` when there is no colon. Throws a {@link Refusal}. */
export const parseEventName = (text: string | null): EventName => {
  if (text === null) return { group: DEFAULT_GROUP, event: null };
  const at = 2;
  const refuse = (code: FaultCode, offset: number): never => {
    throw new Refusal(code, 0, at + offset);
  };
  const slash = text.includes('/') ? text.indexOf('/') : text.indexOf('.');
  const group = slash < 0 ? DEFAULT_GROUP : text.slice(0, slash);
  if (group === '') refuse('NO_GROUP_NAME', 0);
  if (group.length > MAX_NAME) refuse('GROUP_TOO_LONG', 0);
  // Groups are directories, so a dash is fine there.
  if (!/^[A-Za-z_-][\w-]*$/.test(group)) refuse('BAD_GROUP_NAME', 0);
  const event = text.slice(slash + 1);
  if (event === '') return slash < 0 ? refuse('NO_EVENT_NAME', 0) : { group, event: null };
  if (event.length > MAX_NAME) refuse('EVENT_TOO_LONG', slash + 1);
  if (!/^[A-Za-z_]\w*$/.test(event)) refuse('BAD_EVENT_NAME', slash + 1);
  return { group, event };
};

/** `p_<file>_0x<offset>`, for return probes too; <file> ends at the first of `.`, `-`, `_`. */
export const autoName = (path: string, offset: bigint): string => {
  const [file = ''] = path.slice(path.lastIndexOf('/') + 1).split(/[.\-_]/);
  return `p_${file}_0x${offset.toString(16)}`.slice(0, MAX_NAME);
};
