import type { Command } from 'commander';
import { type CommonOptions, common, type Done } from './common.ts';

export interface FuzzOptions extends CommonOptions {
  readonly time?: string;
  readonly count?: string;
  readonly seed: string;
  readonly corpus?: string;
  readonly jobs: string;
  readonly shard?: string;
  readonly against?: string;
}

const EXAMPLES = `
A case is a generated function with probes in it. It runs as it is and probed; a difference that is not one of the
traces probes are known to leave is a finding. Findings are made small and explained.

Examples:
  trapline fuzz --time 60 --jobs 2
  trapline fuzz --kernel k6.18 --corpus ./corpus          goes on where it was stopped
  trapline fuzz --count 10000 --seed 7 --json             the same cases each time with --jobs 1
  trapline fuzz --shard 2/4 --seed 7 --corpus ./part2     one of four that share a campaign
  trapline fuzz merge ./corpus ./part1 ./part2

Exit status: 0 ended without findings; 1 with findings; 2 wrong use.`;

/** `trapline fuzz`. */
export const addFuzz = (program: Command, done: Done): void => {
  const fuzz = common(program.command('fuzz'), 'each in turn')
    .summary('search for probed runs that differ from unprobed ones')
    .description('Searches for probed runs that differ from unprobed ones, and says why they do.')
    .option('--time <seconds>', 'end after this time (default without --count: when interrupted)')
    .option('--count <cases>', 'end after so many cases')
    .option('--seed <number>', 'seed of the campaign', '1')
    .option('--corpus <dir>', 'keep cases and findings there, and go on with what is there')
    .option('--jobs <number>', 'workers', '1')
    .option('--shard <i/n>', 'do the i-th of n parts of the campaign')
    .option('--against <other>', 'compare probed runs with those under another kernel or engine')
    .addHelpText('after', EXAMPLES)
    .action(async (options: FuzzOptions) => {
      const { runFuzz } = await import('../commands/fuzz.ts');
      done(await runFuzz(options));
    });
  fuzz
    .command('merge')
    .summary('join corpora')
    .description('Adds the cases and findings of other corpora to one.')
    .argument('<into>', 'directory that is added to')
    .argument('<from...>', 'directories to read')
    .action(async (into: string, from: readonly string[]) => {
      const { runMerge } = await import('../commands/fuzz.ts');
      done(runMerge(into, from));
    });
};
