import type { InputStream } from '../kernel/files/streams.ts';
import type { Kernel, SliceEnd } from '../kernel/kernel.ts';
import type { InputSource } from './options.ts';

/** How a run ended. */
export type RunEnd =
  /** The program called exit(2). */
  | { readonly kind: 'exit'; readonly status: number }
  /** A signal ended it. */
  | { readonly kind: 'signal'; readonly signal: number; readonly coreDumped: boolean }
  /** A limit of ours: instructions used up, or the caller's abort signal. */
  | { readonly kind: 'limit'; readonly limit: 'instructions' | 'aborted' }
  /** The program waits for something that cannot come (a signal, while nobody else runs). */
  | { readonly kind: 'stuck'; readonly reason: string }
  /** The engine lacks the instruction at `address`. */
  | { readonly kind: 'unsupported'; readonly address: bigint; readonly text: string };

/** Limits of one {@link run}. */
export interface RunOptions {
  /** Instructions, at most one block more; default none. */
  readonly maxInstructions?: number;
  /** Ends the run between two slices, with end `aborted`. */
  readonly abort?: AbortSignal;
  /** Somebody will call `Machine.interrupt()` (Ctrl-C): a program that waits for a signal goes on waiting. */
  readonly interruptible?: boolean;
  /** Called between two slices. */
  readonly onSlice?: () => void;
}

/** What lies between two looks at the host at most: 20 to 200 ms, depending on engine and program. */
const SLICE = { instructions: 1_000_000, traps: 5_000 };

/** Runs slices until the program has ended or a limit is reached. */
export class Runner {
  readonly #kernel: Kernel;
  readonly #stdin: InputStream;
  readonly #input: InputSource | undefined;
  /** A read of the host that has not been answered; kept when a signal comes first. */
  #reading: Promise<void> | null = null;
  #wake: () => void = () => {};

  constructor(kernel: Kernel, stdin: InputStream, input: InputSource | undefined) {
    this.#kernel = kernel;
    this.#stdin = stdin;
    this.#input = input;
  }

  async run(options: RunOptions): Promise<RunEnd> {
    let left = options.maxInstructions ?? Number.POSITIVE_INFINITY;
    for (;;) {
      if (options.abort?.aborted) return { kind: 'limit', limit: 'aborted' };
      if (left <= 0) return { kind: 'limit', limit: 'instructions' };
      const before = this.#kernel.instructions();
      const end = this.#kernel.runSlice({
        ...SLICE,
        instructions: Math.min(left, SLICE.instructions),
      });
      left -= this.#kernel.instructions() - before;
      const ended = await this.#between(end, options);
      if (ended !== null) return ended;
    }
  }

  /** What a slice's end means; null = go on. */
  async #between(end: SliceEnd, options: RunOptions): Promise<RunEnd | null> {
    options.onSlice?.();
    switch (end.kind) {
      case 'exited':
        return end.reason;
      case 'unsupported':
        return end;
      case 'stopped':
        return { kind: 'stuck', reason: `stopped by signal ${end.signal}` };
      case 'waiting':
        return this.#wait(end.reason.kind, options);
      case 'budget':
        await nextTurn();
        return null;
    }
  }

  async #wait(kind: string, options: RunOptions): Promise<RunEnd | null> {
    if (kind === 'host') {
      this.#reading ??= this.#readOnce();
      await Promise.race([this.#reading, this.#woken(options.abort)]);
      this.#wake();
    } else if (options.interruptible) await this.#woken(options.abort);
    else return { kind: 'stuck', reason: 'it waits for a signal that nobody can send' };
    return null;
  }

  /** Until {@link wake} or the caller's abort; the timer keeps the host's event loop alive meanwhile. */
  async #woken(abort: AbortSignal | undefined): Promise<void> {
    const alive = setInterval(() => {}, 1 << 30);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      abort?.addEventListener('abort', () => resolve(), { once: true });
    });
    clearInterval(alive);
  }

  /** Ends a wait: a signal was sent from outside. */
  wake(): void {
    this.#wake();
  }

  async #readOnce(): Promise<void> {
    const bytes = (await this.#input?.read()) ?? null;
    if (bytes === null) this.#stdin.end();
    else this.#stdin.feed(bytes);
    this.#reading = null;
  }
}

/** Lets the host's event loop turn once: timers, signals, input. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
