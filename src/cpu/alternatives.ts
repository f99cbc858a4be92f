import type { EngineName } from './engines.ts';
import type { Quirks } from './unicorn/inspect.ts';
import { JAVASCRIPT_QUIRKS, NATIVE_QUIRKS } from './unicorn/quirks.ts';

const QUIRKS: Readonly<Partial<Record<EngineName, Quirks>>> = {
  unicorn: JAVASCRIPT_QUIRKS,
  'unicorn-native': NATIVE_QUIRKS,
};

/**
 * Engines that can execute an instruction which the engine `name` has refused; none where it is a
 * whole extension, such as AVX, that all of them lack.
 * @param text the instruction as the `unsupported` trap names it
 */
export const enginesThatCan = (name: string, text: string): readonly string[] => {
  const [mnemonic = ''] = text.split(' ');
  const here = Object.entries(QUIRKS).find(([engine]) => engine === name);
  if (here === undefined || !here[1].refused.has(mnemonic)) return [];
  return Object.entries(QUIRKS)
    .filter(([, { refused }]) => !refused.has(mnemonic))
    .map(([engine]) => engine);
};
