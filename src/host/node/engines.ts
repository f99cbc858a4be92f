import type { EngineFactory } from '../../cpu/engine.ts';
import {
  core,
  type EngineName,
  engineMissing,
  unicorn,
  unicornNative,
  unknownEngine,
} from '../../cpu/engines.ts';

const LOADERS: Readonly<Record<EngineName, () => Promise<EngineFactory>>> = {
  unicorn: async () => unicorn((await import('./unicorn-js.ts')).loadUnicornModule()),
  'unicorn-native': async () =>
    unicornNative(await (await import('./unicorn-native.ts')).loadNativeUnicorn()),
  core: async () => core(await (await import('./core.ts')).readTier0()),
};

const loaded = new Map<EngineName, Promise<EngineFactory>>();

const load = (name: EngineName): Promise<EngineFactory> => {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const loading = LOADERS[name]().catch((cause: unknown) => {
    throw engineMissing(name, cause);
  });
  loaded.set(name, loading);
  return loading;
};

/**
 * Loads an engine, once a process.
 * @param name `auto` takes `unicorn-native` where it loads, else `unicorn`
 * @throws TraplineError `engine-missing`, with what to install as its hint
 */
export const loadEngine = async (name: 'auto' | EngineName): Promise<EngineFactory> => {
  if (name === 'auto') return load('unicorn-native').catch(() => load('unicorn'));
  if (!Object.hasOwn(LOADERS, name)) throw unknownEngine(name);
  return load(name);
};
