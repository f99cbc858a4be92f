import type { Command } from 'commander';
import type { ListOptions } from '../commands/list.ts';
import { common, type Done } from './common.ts';

export const addList = (program: Command, done: Done): void => {
  common(program.command('list'))
    .summary('what can be probed in a program or library')
    .description('Functions and USDT sites, with file offset, address, first instruction, verdict.')
    .argument('<program>', 'an ELF program or library')
    .option('--usdt', 'only USDT sites, with semaphore and arguments')
    .option('--no-demangle', 'C++ and Rust names as the linker has them')
    .addHelpText(
      'after',
      `
Examples:
  trapline list ./calc --kernel k6.18
  trapline list --usdt /usr/lib/x86_64-linux-gnu/libc.so.6`,
    )
    .action(async (path: string, options: ListOptions) => {
      const { list } = await import('../commands/list.ts');
      done(await list(path, options));
    });
};
