/** The workers of a campaign. */
import Tinypool from 'tinypool';
import type { EngineName } from '../../cpu/engines.ts';
import type { ProfileName } from '../../uprobes/index.ts';
import type { BatchRequest, BatchResult } from './batch.ts';

/** What every task carries besides its batch: workers are told nothing else. */
export interface Task extends BatchRequest {
  readonly engine: EngineName;
  readonly against?: AgainstName;
}

/** What the probed function is compared with, instead of with itself unprobed. */
export type AgainstName = { readonly profile: ProfileName } | { readonly engine: EngineName };

const usesNative = (engine: EngineName, against: AgainstName | undefined): boolean =>
  engine === 'unicorn-native' ||
  (against !== undefined && 'engine' in against && against.engine === 'unicorn-native');

export class Pool {
  readonly #pool: Tinypool;
  readonly #engine: EngineName;
  readonly #against: AgainstName | undefined;

  constructor(jobs: number, engine: EngineName, against?: AgainstName) {
    this.#engine = engine;
    this.#against = against;
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    this.#pool = new Tinypool({
      filename: new URL(`./worker.${extension}`, import.meta.url).href,
      // libunicorn may abort the whole process it is in.
      runtime: usesNative(engine, against) ? 'child_process' : 'worker_threads',
      minThreads: jobs,
      maxThreads: jobs,
      isolateWorkers: false,
    });
  }

  run(request: BatchRequest): Promise<BatchResult> {
    const task: Task = {
      ...request,
      engine: this.#engine,
      ...(this.#against !== undefined && { against: this.#against }),
    };
    return this.#pool.run(task);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
