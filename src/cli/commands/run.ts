import { type RunOptions, settingsOf } from '../run/settings.ts';

export type { RunOptions } from '../run/settings.ts';

/** `trapline run`. What is wrong on the command line is said before anything is loaded. */
export const run = async (
  path: string,
  args: readonly string[],
  options: RunOptions,
): Promise<number> => {
  const settings = settingsOf(options);
  const { execute } = await import('../run/execute.ts');
  return execute(path, args, settings);
};
