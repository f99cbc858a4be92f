import type { ErrnoName } from '../../../abi/errno.ts';
import type { EventFile } from '../event-file.ts';
import type { Filter } from '../filter/filter.ts';
import type { TraceArray } from '../trace-array.ts';
import {
  type Count,
  filterExpression,
  parseCount,
  parseTriggerCommand,
  splitFilter,
  type TriggerCommand,
} from './command.ts';
import { switchEvent, switchTracing, Trigger, type TriggerAction } from './trigger.ts';

/** What triggers need to know of the rest. */
export interface TriggerContext {
  readonly array: TraceArray;
  /** The file of an event; undefined when there is no such event. */
  find(group: string, event: string): EventFile | undefined;
  /** Parses a filter of the event; a refusal is noted in `error_log`. */
  filter(text: string): Filter | ErrnoName;
}

/** A trigger's parameter read: what it does, how often, and the filter's words. */
interface Parsed {
  readonly action: TriggerAction;
  /** Null = none given. */
  readonly count: string | null;
  readonly filter: string | null;
}
type Parser = (rest: string | null, context: TriggerContext) => Parsed | ErrnoName;

/** `traceon[:COUNT]`; a parameter that is no number is taken for the filter. */
const tracing =
  (on: boolean): Parser =>
  (rest, { array }) => {
    const action = switchTracing(array, on);
    if (rest !== null && !/^\d/.test(rest)) return { action, count: null, filter: rest };
    const { param, filter } = splitFilter(rest);
    return { action, count: param, filter };
  };

/** `enable_event:GROUP:EVENT[:COUNT]`. */
const event =
  (on: boolean): Parser =>
  (rest, { find }) => {
    const { param, filter } = splitFilter(rest);
    const [group, name, count = null] = param?.split(':') ?? [];
    if (group === undefined || name === undefined) return 'EINVAL';
    const target = find(group, name);
    return target === undefined ? 'EINVAL' : { action: switchEvent(target, on), count, filter };
  };

const PARSERS: Readonly<Record<string, Parser>> = {
  traceon: tracing(true),
  traceoff: tracing(false),
  enable_event: event(true),
  disable_event: event(false),
};

const NONE_TEXT = `# Available triggers:\n# ${Object.keys(PARSERS).join(' ')}\n`;

/** Text of the `trigger` file. */
export const triggersText = ({ triggers }: EventFile): string =>
  triggers.length === 0 ? NONE_TEXT : triggers.map((trigger) => `${trigger.text()}\n`).join('');

const add = (
  { action, count, filter }: Parsed,
  file: EventFile,
  context: TriggerContext,
): ErrnoName | null => {
  const limit: Count | ErrnoName = count === null ? null : parseCount(count);
  if (typeof limit === 'string') return limit;
  const expression = filterExpression(filter);
  if (expression === 'EINVAL') return expression;
  const parsed = expression === null ? null : context.filter(expression);
  if (typeof parsed === 'string') return parsed;
  // The event it is about stays registered as long as the trigger is there.
  const { target } = action;
  const refusal = target?.hold() ?? null;
  if (refusal !== null) return refusal.errno;
  const error = file.addTrigger(new Trigger(action, limit, parsed));
  if (error !== null) target?.drop();
  return error;
};

const run = (
  { remove: removes, name, rest }: TriggerCommand,
  file: EventFile,
  context: TriggerContext,
): ErrnoName | null => {
  const parsed = Object.hasOwn(PARSERS, name) ? PARSERS[name]!(rest, context) : 'EINVAL';
  if (typeof parsed === 'string') return parsed;
  if (!removes) return add(parsed, file, context);
  const { target } = parsed.action;
  if (file.removeTrigger(target) !== undefined) target?.drop();
  return null;
};

/** What was written to a `trigger` file. */
export const writeTrigger = (
  text: string,
  file: EventFile,
  context: TriggerContext,
): ErrnoName | null => (text === '' ? null : run(parseTriggerCommand(text.trim()), file, context));
