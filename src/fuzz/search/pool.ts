/** The workers of a campaign. */
import Tinypool from 'tinypool';
import type { EngineName } from '../../cpu/engines.ts';
import type { BatchRequest, BatchResult } from './batch.ts';

/** What every task carries besides its batch: workers are told nothing else. */
export interface Task extends BatchRequest {
  readonly engine: EngineName;
  readonly fault?: string;
}

export class Pool {
  readonly #pool: Tinypool;
  readonly #engine: EngineName;
  readonly #fault: string | undefined;

  constructor(jobs: number, engine: EngineName, fault?: string) {
    this.#engine = engine;
    this.#fault = fault;
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    this.#pool = new Tinypool({
      filename: new URL(`./worker.${extension}`, import.meta.url).href,
      // libunicorn may abort the whole process it is in.
      runtime: engine === 'unicorn-native' ? 'child_process' : 'worker_threads',
      minThreads: jobs,
      maxThreads: jobs,
      isolateWorkers: false,
    });
  }

  run(request: BatchRequest): Promise<BatchResult> {
    const task: Task = {
      ...request,
      engine: this.#engine,
      ...(this.#fault !== undefined && { fault: this.#fault }),
    };
    return this.#pool.run(task);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
