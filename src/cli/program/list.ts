import type { Command } from 'commander';
import { type CommonOptions, common, type Done } from './common.ts';

export const addList = (program: Command, done: Done): void => {
  common(program.command('list'))
    .summary('what can be probed in a program or library')
    .description('Functions and USDT sites, with file offset, address, first instruction, verdict.')
    .argument('<program>', 'an ELF program or library')
    .addHelpText('after', '\nExample:\n  trapline list ./calc --kernel k6.18')
    .action(async (path: string, options: CommonOptions) => {
      const { list } = await import('../commands/list.ts');
      done(await list(path, options));
    });
};
