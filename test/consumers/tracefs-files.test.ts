import { describe, expect, it } from 'vitest';
import { loadEngine } from '../../src/host/node/index.ts';
import { TraplineError } from '../../src/index.ts';
import { PROGRAM, SessionMachine } from './session-program.ts';

const engine = await loadEngine('unicorn');
const DEFINE = `p:g/e ${PROGRAM}:0x1076 ax=%ax:s32 s=+0(%dx):string`;

/** What a refused call says. */
const refusal = (act: () => void): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof TraplineError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('machine.tracefs', () => {
  it('says what the kernel says, and the errno', () => {
    using session = new SessionMachine(engine);
    const { tracefs } = session.machine;
    tracefs.write('uprobe_events', DEFINE);
    expect(refusal(() => tracefs.write('uprobe_events', `${DEFINE} x=%nosuch`))).toBe(
      'tracefs: cannot write uprobe_events: Invalid register name (EINVAL, errno 22)',
    );
    expect(refusal(() => tracefs.write('events/g/e/filter', 'ax ='))).toBe(
      'tracefs: cannot write events/g/e/filter: Invalid operator (EINVAL, errno 22)',
    );
    expect(refusal(() => tracefs.write('events/g/e/trigger', 'dance'))).toBe(
      'tracefs: cannot write events/g/e/trigger: (EINVAL, errno 22)',
    );
    expect(refusal(() => tracefs.read('events/g/e'))).toBe(
      'tracefs: cannot open events/g/e: (EISDIR, errno 21)',
    );
    expect(refusal(() => tracefs.list('nosuch'))).toContain('ENOENT, errno 2');
  });

  it('goes back with a snapshot: events, filters, triggers, records and counts', async () => {
    using session = new SessionMachine(engine);
    const { machine } = session;
    const { tracefs } = machine;
    tracefs.write('uprobe_events', DEFINE);
    tracefs.write('events/g/e/filter', 'ax == -2');
    tracefs.write('events/g/e/trigger', 'traceoff:5 if ax == 1');
    tracefs.write('events/g/e/enable', '1');
    await session.run();
    const state = (): string[] =>
      ['uprobe_events', 'uprobe_profile', 'tracing_on', 'trace', 'error_log']
        .concat(['filter', 'trigger', 'enable'].map((name) => `events/g/e/${name}`))
        .map((file) => tracefs.read(file));
    const before = state();
    expect(before[3]).toContain('1/1');
    const snapshot = machine.capture();
    tracefs.write('tracing_on', '0');
    tracefs.write('events/g/e/trigger', '!traceoff');
    tracefs.write('events/g/e/filter', '0');
    tracefs.write('events/g/e/enable', '0');
    tracefs.write('uprobe_events', '', { truncate: true });
    expect(refusal(() => tracefs.write('uprobe_events', 'p:x /nosuch:0x1'))).toContain('ENOENT');
    machine.restore(snapshot);
    expect(state()).toEqual(before);
    await session.run();
    expect(tracefs.read('trace')).toContain('2/2');
  });

  it('shows the records of a snapshot by the events of that snapshot, whatever was defined since', async () => {
    using session = new SessionMachine(engine);
    const { machine } = session;
    const { tracefs } = machine;
    const empty = machine.capture();
    const define = (name: string): void => {
      tracefs.write('uprobe_events', `p:g/${name} ${PROGRAM}:0x1076`);
      tracefs.write(`events/g/${name}/enable`, '1');
    };
    define('first');
    await session.run();
    const traced = machine.capture();
    expect(tracefs.read('trace')).toContain('first: (0x401076)');
    machine.restore(empty);
    define('second');
    machine.restore(traced);
    expect(tracefs.read('trace')).toContain('first: (0x401076)');
  });

  // The kernel would free the probe while it is registered (docs/kernel-notes.md).
  it('takes a deleted probe of an enabled event out', async () => {
    using session = new SessionMachine(engine);
    const { tracefs } = session.machine;
    tracefs.write('uprobe_events', `p:g/e ${PROGRAM}:0x1076\np:g/e ${PROGRAM}:0x109a`);
    tracefs.write('events/g/e/enable', '1');
    tracefs.write('uprobe_events', `-:g/e ${PROGRAM}:0x0000000000001076`);
    await session.run();
    expect(tracefs.read('trace_pipe').replace(/^.*: e:/gm, 'e:')).toBe('e: (0x40109a)\n');
  });

  it('evaluates arguments once for all who look, and not at all while nobody records', async () => {
    using session = new SessionMachine(engine);
    const { machine } = session;
    machine.tracefs.write('uprobe_events', DEFINE);
    machine.tracefs.write('events/g/e/enable', '1');
    await session.run();
    expect(machine.stats().argument_builds).toBe(1);
    machine.tracefs.write('tracing_on', '0');
    await session.run();
    expect(machine.stats().argument_builds).toBe(1);
  });
});
