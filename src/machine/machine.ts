import { TraplineError } from '../base/errors.ts';
import { type Callbacks, callbackConsumer } from '../consumers/callback/index.ts';
import { parseDefinition } from '../consumers/event/definition.ts';
import { type EventContext, eventContext } from '../consumers/event/event.ts';
import { faultError } from '../consumers/event/fault.ts';
import type { Site } from '../consumers/event/site.ts';
import type { MultiHandlers } from '../consumers/multi/link.ts';
import { makePerf, type Perf } from '../consumers/perf/index.ts';
import type { Profile } from '../uprobes/index.ts';
import { Uprobes } from '../uprobes/index.ts';
import { Attacher } from './attach.ts';
import { type Booted, boot } from './boot.ts';
import { type Link, makeLink } from './link.ts';
import { Locator } from './locate.ts';
import {
  MultiAttacher,
  type MultiLinkHandle,
  type MultiOptions,
  type MultiTarget,
} from './multi.ts';
import { type MachineOptions, requireProfile } from './options.ts';
import { PerfHost } from './perf.ts';
import { requireHandler } from './refusal.ts';
import { type RunEnd, Runner, type RunOptions } from './run.ts';
import { machineCounters } from './stats.ts';
import { Tracefs } from './tracefs.ts';
import { UsdtAttacher, type UsdtHandler, type UsdtOptions } from './usdt.ts';

/** State of a machine, to be handed back to {@link Machine.restore}. */
export interface MachineSnapshot {
  readonly kernel: unknown;
  readonly uprobes: unknown;
  readonly perf: unknown;
}

/**
 * One emulated Linux machine with one program loaded: CPU, kernel layer, file view, uprobes.
 *
 * Lifetime: {@link Machine.create}, attach probes, {@link Machine.run}, {@link Machine.dispose}.
 */
export class Machine {
  /** The kernel release whose rules hold. */
  readonly profile: Profile;
  /** `uprobe_events`: probes defined as text, their records and counters. */
  readonly tracefs: Tracefs;
  /** perf events of the host: counts and samples. */
  readonly perf: PerfHost;
  readonly #booted: Booted;
  readonly #uprobes: Uprobes;
  readonly #locator: Locator;
  readonly #attacher: Attacher;
  readonly #multi: MultiAttacher;
  readonly #usdt: UsdtAttacher;
  readonly #runner: Runner;
  readonly #events: EventContext;
  readonly #perfEvents: Perf;

  private constructor(options: MachineOptions) {
    this.profile = requireProfile(options.profile);
    let uprobes: Uprobes | undefined;
    this.#booted = boot(options, (kernel) => {
      uprobes = new Uprobes(kernel, this.profile);
    });
    const { kernel, files } = this.#booted;
    this.#uprobes = uprobes as unknown as Uprobes;
    uprobesByMachine.set(this, this.#uprobes);
    this.#locator = new Locator(files, options.program.path, options.probeBase ?? '/');
    this.#attacher = new Attacher(this.#uprobes, this.profile);
    this.#multi = new MultiAttacher(
      this.#uprobes,
      this.#locator,
      this.#attacher,
      (pid) => kernel.tasks().find(({ tgid, tid }) => tgid === pid && tid === pid)?.mm,
    );
    this.#usdt = new UsdtAttacher(this.#locator, this.#multi, this.profile);
    this.#events = eventContext(this.#uprobes);
    this.tracefs = new Tracefs({
      files,
      locator: this.#locator,
      attacher: this.#attacher,
      context: this.#events,
      now: () => kernel.now(),
    });
    this.#perfEvents = makePerf(
      {
        kernel,
        uprobes: this.#uprobes,
        context: this.#events,
        eventById: (id) => this.tracefs.eventById(id),
        parseFilter: (text, event) => this.tracefs.parseFilter(text, event),
      },
      files,
    );
    this.perf = new PerfHost(this.#perfEvents, this.#events, this.#locator, this.#attacher);
    this.#runner = new Runner(kernel, files.streams.stdin, options.io?.stdin);
  }

  /**
   * Loads the program; nothing of it has run yet.
   * @throws TraplineError `bad-elf`, `file-missing` or `bad-option`
   */
  static create(options: MachineOptions): Machine {
    return new Machine(options);
  }

  /** Process id of the program. */
  get pid(): number {
    return this.#booted.task.tgid;
  }

  /**
   * Attaches functions. Handlers run inside {@link Machine.run}, synchronously.
   * @param site `PATH:OFFSET`, `PATH:SYMBOL[+N]` or `PATH:%PROVIDER:NAME`; `@` is the program
   * @throws TraplineError `bad-probe` with the kernel's errno
   */
  uprobe(site: string, callbacks: Callbacks): Link {
    const places = this.#locator.places(this.#site(site), site);
    requireHandler(site, callbacks);
    const consumer = callbackConsumer(callbacks);
    const attached = this.#attacher.attachAll(places, consumer, site);
    return makeLink(places, () => {
      for (const one of attached) one.detach();
    });
  }

  /**
   * Attaches functions to many places of one file, all or none: a uprobe_multi link of bpf(2). Both
   * handlers make it a session.
   * @throws TraplineError `bad-probe` with the errno of libbpf or of the kernel
   */
  uprobeMulti(
    target: MultiTarget,
    handlers: MultiHandlers,
    options: MultiOptions = {},
  ): MultiLinkHandle {
    return this.#multi.attach(target, handlers, options);
  }

  /**
   * Attaches a function to every site of a USDT probe, semaphores included, with access to the
   * probe's arguments: what libbpf's bpf_program__attach_usdt() does.
   * @param site `PATH:%PROVIDER:NAME`; `@` is the program
   * @throws TraplineError `bad-probe` with the errno of libbpf or of the kernel
   */
  usdt(site: string, handler: UsdtHandler, options: UsdtOptions = {}): Link {
    const { path, spot } = this.#site(site);
    if (spot.kind !== 'usdt')
      throw new TraplineError('bad-option', `"${site}" is not PATH:%PROVIDER:NAME`);
    return this.#usdt.attach(path, spot, handler, options);
  }

  #site(text: string): Site {
    const parsed = parseDefinition(`p ${text}`, { lookup: (path) => this.#locator.kindOf(path) });
    if (!parsed.ok) throw faultError(parsed.fault);
    return parsed.definition.site;
  }

  /** Runs the program to its end, or to a limit; may be called again after a limit. */
  run(options: RunOptions = {}): Promise<RunEnd> {
    return this.#runner.run(options);
  }

  /** Ctrl-C: SIGINT to the program. */
  interrupt(): void {
    this.#booted.kernel.interrupt();
    this.#runner.wake();
  }

  /**
   * Libraries that the program asks for and nobody has opened: why a dynamic linker that has given
   * up (status 127) has done so.
   */
  unopenedLibraries(): readonly string[] {
    const { files, program } = this.#booted;
    const opened = [...files.inodes].map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
    // libz.so.1 may be a link to libz.so.1.2.13.
    return program.image.needed.filter((name) => !opened.some((file) => file.startsWith(name)));
  }

  /** Counters by name: instructions, traps, single steps, system calls, text pokes … */
  stats(): Readonly<Record<string, number>> {
    return {
      ...machineCounters(this.#booted.kernel, this.#uprobes, this.#booted.mm.space.counters),
      argument_builds: this.#events.record.builds,
    };
  }

  /** Everything but attached callbacks. Preconditions: not inside {@link Machine.run}. */
  capture(): MachineSnapshot {
    return {
      kernel: this.#booted.kernel.capture(),
      uprobes: this.#uprobes.capture(),
      perf: this.#perfEvents.capture(),
    };
  }

  /** Back to a snapshot of this machine. Preconditions: not inside {@link Machine.run}. */
  restore(snapshot: MachineSnapshot): void {
    this.#booted.kernel.restore(snapshot.kernel);
    this.#uprobes.restore(snapshot.uprobes);
    this.#perfEvents.restore(snapshot.perf);
  }

  /** Frees the engine and closes files. */
  dispose(): void {
    this.#booted.kernel.dispose();
    this.#booted.files.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

const uprobesByMachine = new WeakMap<Machine, Uprobes>();

/** For `testing.ts` only. */
export const uprobesBehind = (machine: Machine): Uprobes => {
  const uprobes = uprobesByMachine.get(machine);
  if (uprobes === undefined) throw new TypeError('not a Machine');
  return uprobes;
};
