/** The one list of CPU engines. */
import { TraplineError } from '../base/errors.ts';
import { CAPABILITIES } from './core/capabilities.ts';
import { NAME as CORE, CoreEngine } from './core/engine.ts';
import { compileTier0 } from './core/tier0/module.ts';
import type { EngineFactory } from './engine.ts';
import type { UnicornLibrary } from './unicorn/binding.ts';
import { UnicornEngine, type UnicornKind } from './unicorn/engine.ts';
import { javascriptLibrary, type UnicornModule } from './unicorn/js.ts';
import {
  JAVASCRIPT_CAPABILITIES,
  JAVASCRIPT_QUIRKS,
  NATIVE_CAPABILITIES,
  NATIVE_QUIRKS,
} from './unicorn/quirks.ts';

/** Names a user can give; `auto` is the host's affair. */
export type EngineName = 'unicorn' | 'unicorn-native' | 'core';

/** One line each, for help and errors. */
export const ENGINES: Readonly<Record<EngineName, string>> = {
  unicorn: 'Unicorn 1.0 compiled to JavaScript (npm @specy/x86); works with npm alone',
  'unicorn-native': 'the system’s libunicorn 2 (Debian libunicorn2) through koffi; fastest',
  core: 'our own CPU in WebAssembly; up to SSE2 so far; the rest is refused by name',
};

const factory = (kind: UnicornKind): EngineFactory => ({
  name: kind.name,
  capabilities: kind.capabilities,
  create: () => new UnicornEngine(kind),
});

/** @param module the inner module of @specy/x86 */
export const unicorn = (module: UnicornModule): EngineFactory =>
  factory({
    name: 'unicorn',
    capabilities: JAVASCRIPT_CAPABILITIES,
    library: javascriptLibrary(module),
    quirks: JAVASCRIPT_QUIRKS,
    layout: undefined,
  });

/** @param library libunicorn's functions, bound by the host */
export const unicornNative = (library: UnicornLibrary): EngineFactory =>
  factory({
    name: 'unicorn-native',
    capabilities: NATIVE_CAPABILITIES,
    library,
    quirks: NATIVE_QUIRKS,
    layout: undefined,
  });

/** @param bytes tier 0 as `buildTier0` makes it */
export const core = (bytes: Uint8Array<ArrayBuffer>): EngineFactory => {
  const code = compileTier0(bytes);
  return { name: CORE, capabilities: CAPABILITIES, create: () => new CoreEngine(code) };
};

const HINTS: Readonly<Record<EngineName, string>> = {
  unicorn: 'npm install @specy/x86',
  'unicorn-native': 'apt install libunicorn2 and npm install koffi',
  core: 'Node.js 20 or later: it needs WebAssembly with SIMD and tail calls',
};

/** The error for an engine whose parts are not on this machine. */
export const engineMissing = (name: EngineName, cause: unknown): TraplineError =>
  new TraplineError('engine-missing', `engine ${name} is not installed here`, {
    hint: HINTS[name],
    cause,
  });

/** The error for a name that no engine has. */
export const unknownEngine = (name: string): TraplineError =>
  new TraplineError('bad-option', `there is no engine ${name}`, {
    hint: `engines: auto, ${Object.keys(ENGINES).join(', ')}`,
  });
