/** Runs in a thread or a process of its own; see pool.ts. */
import { loadEngine } from '../../host/node/index.ts';
import { type BatchResult, Worker } from './batch.ts';
import type { Task } from './pool.ts';

const workers = new Map<string, Promise<Worker>>();

const make = async ({ engine, against }: Task): Promise<Worker> => {
  const factory = await loadEngine(engine);
  if (against === undefined) return new Worker(factory);
  const other = 'profile' in against ? against : { factory: await loadEngine(against.engine) };
  return new Worker(factory, { against: other });
};

const workerFor = (task: Task): Promise<Worker> => {
  const key = JSON.stringify([task.engine, task.against]);
  const known = workers.get(key);
  if (known !== undefined) return known;
  const made = make(task);
  workers.set(key, made);
  return made;
};

export default async (task: Task): Promise<BatchResult> => (await workerFor(task)).run(task);
