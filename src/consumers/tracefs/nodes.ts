/** The files of /sys/kernel/tracing as a tree of nodes over the state behind them. */
import type { ErrnoName } from '../../abi/errno.ts';
import { parseUnsigned } from '../event/number.ts';
import { MAX_FILTER_WRITE, type TraceControl } from './control.ts';
import type { EventFile } from './event-file.ts';
import { formatText } from './format.ts';
import { traceText } from './trace-text.ts';
import { triggersText, writeTrigger } from './trigger/commands.ts';

/** A file of text: what is absent is answered with EINVAL. */
export interface TextNode {
  readonly kind: 'text';
  /** Permission bits. */
  readonly mode: number;
  read?(): string;
  write?(text: string): ErrnoName | null;
  /** Opened for writing with O_TRUNC. */
  truncate?(): ErrnoName | null;
}

/** `trace_pipe`: reading takes away. */
export interface PipeNode {
  readonly kind: 'pipe';
  readonly mode: number;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly mode: number;
  names(): readonly string[];
  child(name: string): TraceNode | undefined;
}
export type TraceNode = TextNode | PipeNode | DirectoryNode;

const READ_WRITE = 0o640;
const READ = 0o440;

const text = (mode: number, ops: Omit<TextNode, 'kind' | 'mode'>): TextNode => ({
  kind: 'text',
  mode,
  ...ops,
});

const readOnly = (read: () => string): TextNode => text(READ, { read });

/** Directories whose children are known by name; groups and events come on top of them. */
const directory = (
  fixed: Readonly<Record<string, () => TraceNode>>,
  more: { names(): readonly string[]; child(name: string): TraceNode | undefined } = NOTHING,
  mode = 0o755,
): DirectoryNode => ({
  kind: 'directory',
  mode,
  names: () => [...Object.keys(fixed), ...more.names()],
  child: (name) => (Object.hasOwn(fixed, name) ? fixed[name]?.() : more.child(name)),
});
const NOTHING = { names: () => [], child: () => undefined };

/** A number as kstrtoul_from_user reads it; one line end is allowed. */
const numberOf = (written: string): bigint | ErrnoName =>
  parseUnsigned(written.replace(/\n$/, ''), 10);

/** 0 or 1, as `enable` files take it. */
const switchOf = (written: string): boolean | ErrnoName => {
  const value = numberOf(written);
  if (typeof value === 'string') return value;
  return value > 1n ? 'EINVAL' : value === 1n;
};

/** What was written to an `enable`: every file is tried, the last refusal is the answer. */
const setEnabled = (files: readonly EventFile[], written: string): ErrnoName | null => {
  const on = switchOf(written);
  if (typeof on === 'string') return on;
  let error: ErrnoName | null = null;
  for (const file of files) {
    if (!on) file.disable();
    else error = file.enable()?.errno ?? error;
  }
  return error;
};

/** One letter for many events: all, none, or `X` for some. */
const sharedState = (files: readonly EventFile[]): string => {
  const on = files.filter(({ registered }) => registered).length;
  if (files.length === 0) return '?\n';
  return on === 0 ? '0\n' : on === files.length ? '1\n' : 'X\n';
};

const GROUP_FILTER = `### global filter ###
# Use this to set filters for multiple events.
# Only events with the given fields will be affected.
# If no events are modified, an error message will be displayed here
`;

const eventDirectory = (control: TraceControl, file: EventFile): DirectoryNode => {
  const context = {
    array: control.array,
    find: (group: string, name: string) => fileOf(control, group, name),
    filter: (expression: string) => control.triggerFilter(expression, file),
  };
  return directory({
    enable: () =>
      text(READ_WRITE, {
        read: () => `${file.state}\n`,
        write: (written) => setEnabled([file], written),
      }),
    filter: () =>
      text(READ_WRITE, {
        read: () => `${file.filterText ?? 'none'}\n`,
        write: (written) => control.writeFilter(file, written),
      }),
    format: () => readOnly(() => formatText(file.event)),
    id: () => readOnly(() => `${file.event.id}\n`),
    trigger: () =>
      text(READ_WRITE, {
        read: () => triggersText(file),
        write: (written) =>
          written.length >= MAX_FILTER_WRITE ? 'EINVAL' : writeTrigger(written, file, context),
      }),
  });
};

const fileOf = (control: TraceControl, group: string, name: string): EventFile | undefined => {
  const event = control.events.find(group, name);
  return event && control.array.file(event);
};

const groupDirectory = (control: TraceControl, group: string): DirectoryNode | undefined => {
  const events = (): EventFile[] =>
    control.events.all
      .filter((event) => event.group === group)
      .map((event) => control.array.file(event));
  if (events().length === 0) return undefined;
  return directory(
    {
      enable: () =>
        text(READ_WRITE, {
          read: () => sharedState(events()),
          write: (written) => setEnabled(events(), written),
        }),
      filter: () =>
        text(READ_WRITE, {
          read: () => GROUP_FILTER,
          write: (written) => control.writeGroupFilter(events(), written),
        }),
    },
    {
      names: () => events().map(({ event }) => event.name),
      child: (name) => {
        const file = fileOf(control, group, name);
        return file && eventDirectory(control, file);
      },
    },
  );
};

const eventsDirectory = (control: TraceControl): DirectoryNode => {
  const all = (): EventFile[] => control.events.all.map((event) => control.array.file(event));
  return directory(
    {
      enable: () =>
        text(READ_WRITE, {
          read: () => sharedState(all()),
          write: (written) => setEnabled(all(), written),
        }),
    },
    {
      names: () => [...new Set(control.events.all.map(({ group }) => group))],
      child: (name) => groupDirectory(control, name),
    },
  );
};

/** Nothing can be chosen here. */
const onlyNop = (written: string): ErrnoName | null => (written.trim() === 'nop' ? null : 'EINVAL');

/** The root of the tree. */
export const traceRoot = (control: TraceControl): DirectoryNode => {
  const { array } = control;
  const clear = (): null => {
    array.ring.clear();
    return null;
  };
  return directory(
    {
      available_tracers: () => readOnly(() => 'nop\n'),
      buffer_size_kb: () =>
        text(READ_WRITE, {
          read: () => `${array.ring.kilobytes}\n`,
          write: (written) => {
            const size = numberOf(written);
            if (typeof size === 'string') return size;
            if (size === 0n || size > MAX_BUFFER_KB) return 'EINVAL';
            array.ring.resize(Number(size));
            return null;
          },
        }),
      current_tracer: () => text(READ_WRITE, { read: () => 'nop\n', write: onlyNop }),
      error_log: () =>
        text(READ_WRITE, {
          read: () => array.errors.text(),
          write: () => null,
          truncate: () => {
            array.errors.clear();
            return null;
          },
        }),
      events: () => eventsDirectory(control),
      trace: () =>
        text(READ_WRITE, { read: () => traceText(array), write: () => null, truncate: clear }),
      trace_pipe: () => ({ kind: 'pipe', mode: READ }),
      tracing_on: () =>
        text(READ_WRITE, {
          read: () => `${Number(array.on)}\n`,
          write: (written) => {
            const value = numberOf(written);
            if (typeof value === 'string') return value;
            array.on = value !== 0n;
            return null;
          },
        }),
      uprobe_events: () =>
        text(READ_WRITE, {
          read: () => control.listing(),
          write: (written) => control.writeEvents(written),
          truncate: () => control.removeAll(),
        }),
      uprobe_profile: () => readOnly(() => control.profile()),
    },
    NOTHING,
    0o750,
  );
};

/** What a guest may make us hold: 64 MiB. */
const MAX_BUFFER_KB = 65_536n;
