/** Runs in a thread or a process of its own; see pool.ts. */
import { loadEngine } from '../../host/node/index.ts';
import { type BatchResult, Worker } from './batch.ts';
import type { Task } from './pool.ts';

const workers = new Map<string, Promise<Worker>>();

const workerFor = ({ engine, fault }: Task): Promise<Worker> => {
  const key = `${engine} ${fault ?? ''}`;
  const known = workers.get(key);
  if (known !== undefined) return known;
  const made = loadEngine(engine).then((factory) => new Worker(factory, fault));
  workers.set(key, made);
  return made;
};

export default async (task: Task): Promise<BatchResult> => (await workerFor(task)).run(task);
