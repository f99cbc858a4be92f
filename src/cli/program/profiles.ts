import type { Command } from 'commander';
import type { ProfilesOptions } from '../commands/profiles.ts';
import { common, type Done } from './common.ts';

export const addProfiles = (program: Command, done: Done): void => {
  common(program.command('profiles'), 'all')
    .summary('the kernel releases and how they differ')
    .description('The kernel profiles and their switches; --kernel shows one of them.')
    .option('--diff <profiles...>', 'what differs between two of them')
    .addHelpText('after', '\nExamples:\n  trapline profiles\n  trapline profiles --diff k6.18 k7.3')
    .action(async (options: ProfilesOptions) => {
      const { profiles } = await import('../commands/profiles.ts');
      done(await profiles(options));
    });
};
