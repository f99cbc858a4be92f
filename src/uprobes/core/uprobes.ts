import type { KernelServices } from '../../kernel/kernel.ts';
import type { Task } from '../../kernel/task.ts';
import type { Inode } from '../../memory/backing.ts';
import type { Profile } from '../profiles.ts';
import { UPROBE_SYSCALL } from '../trampoline/optimised-page.ts';
import { URETPROBE_SYSCALL } from '../trampoline/return-page.ts';
import type { Consumer } from './consumer.ts';
import type { UprobeCounters } from './counters.ts';
import { kernelHooks } from './hooks.ts';
import {
  apply,
  type RegisterErrno,
  type RegisterOptions,
  type Registration,
  register,
  unregister,
} from './registration.ts';
import { RULES } from './rules.ts';
import { Shared } from './shared.ts';
import { captureShared } from './snapshot.ts';

/** An attached consumer; hand it back to {@link Uprobes.unregister}. */
export interface Handle {
  /** Return handlers of this consumer that could not be armed. */
  readonly missed: number;
  /** A breakpoint has been written for it somewhere; false while no mapping takes one. */
  readonly inserted: boolean;
}

class AttachedHandle implements Handle {
  readonly registration: Registration;

  constructor(registration: Registration) {
    this.registration = registration;
  }

  get missed(): number {
    return this.registration.attachment.missed;
  }

  get inserted(): boolean {
    return this.registration.uprobe.analysis !== null;
  }
}

/** What the pending return probes of a task have hidden on its stack. */
export interface PendingReturns {
  /** What stands where return addresses were. */
  readonly trampoline: bigint;
  /** The addresses themselves, newest first; functions entered by a jump repeat their caller's. */
  readonly originals: readonly bigint[];
}

/**
 * The uprobe subsystem of one machine under the rules of one kernel release.
 * Preconditions: made before the first program is loaded, since it subscribes to the kernel's hooks.
 */
export class Uprobes {
  readonly profile: Profile;
  /** For tests: see `testing.ts`. */
  readonly #shared: Shared;

  constructor(kernel: KernelServices, profile: Profile) {
    this.profile = profile;
    const shared = new Shared(kernel, profile, RULES);
    this.#shared = shared;
    sharedOf.set(this, shared);
    kernel.subscribe(kernelHooks(shared));
    if (profile.uretTrampoline === 'syscall')
      kernel.claimSyscall(URETPROBE_SYSCALL, 'uretprobe', (task) =>
        shared.rules.uretprobeSyscall(shared, task),
      );
    if (profile.optimise !== 'none')
      kernel.claimSyscall(UPROBE_SYSCALL, 'uprobe', (task) =>
        shared.rules.uprobeSyscall(shared, task),
      );
  }

  get counters(): Readonly<UprobeCounters> {
    return this.#shared.counters;
  }

  /**
   * Attaches a consumer to a place in a file: in all processes that map it now or later.
   * @returns a handle, or the name of the kernel's errno
   */
  register(
    inode: Inode,
    offset: bigint,
    consumer: Consumer,
    options: RegisterOptions = {},
  ): Handle | RegisterErrno {
    const registration = register(this.#shared, inode, offset, consumer, options);
    return typeof registration === 'string' ? registration : new AttachedHandle(registration);
  }

  /** Detaches; none of the consumer's handlers runs afterwards. A second call does nothing. */
  unregister(handle: Handle, options: Pick<RegisterOptions, 'caller'> = {}): void {
    if (handle instanceof AttachedHandle)
      unregister(this.#shared, handle.registration, options.caller);
  }

  /**
   * The filter of an attached consumer answers differently now. With `add` breakpoints are written
   * where it wants them; without, they are taken out where nobody wants them any more.
   * @returns null, or the name of the kernel's errno
   */
  apply(handle: Handle, add: boolean): RegisterErrno | 'ENOENT' | null {
    if (!(handle instanceof AttachedHandle)) return 'ENOENT';
    return apply(this.#shared, handle.registration, add);
  }

  /** Null when no return probe is pending. */
  pendingReturns(task: Task): PendingReturns | null {
    const instances = this.#shared.findTaskState(task)?.instances ?? [];
    const { area } = this.#shared.mmState(task.mm);
    if (instances.length === 0 || area === null) return null;
    return {
      trampoline: area.address,
      originals: instances.map(({ original }) => original).reverse(),
    };
  }

  /**
   * Everything but the callbacks' own state. Which consumers are attached belongs to it: the
   * breakpoints in memory say so too.
   */
  capture(): unknown {
    return captureShared(this.#shared);
  }

  /** Preconditions: `state` is from `capture` of this object; the kernel is restored to the same moment. */
  restore(state: unknown): void {
    (state as ReturnType<typeof captureShared>)();
  }
}

const sharedOf = new WeakMap<Uprobes, Shared>();

/** For `testing.ts` only. */
export const sharedStateOf = (uprobes: Uprobes): Shared => {
  const shared = sharedOf.get(uprobes);
  if (shared === undefined) throw new TypeError('not a Uprobes object');
  return shared;
};
