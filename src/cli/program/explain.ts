import type { Command } from 'commander';
import type { ExplainOptions } from '../commands/explain.ts';
import { collect, common, type Done } from './common.ts';

export const addExplain = (program: Command, done: Done): void => {
  common(program.command('explain'), 'all for a site, the newest for bytes')
    .summary('one site in depth, or bare instruction bytes')
    .description('What the kernel makes of an instruction: refused, emulated or stepped, and why.')
    .usage('[options] PROGRAM:SITE | --bytes HEX | --bytes-file FILE')
    .argument('[site]', 'PROGRAM:OFFSET, PROGRAM:SYMBOL[+N] or PROGRAM:%PROVIDER:NAME')
    .option('--explain-offset', 'shows the arithmetic from the name to the file offset')
    .option('--bytes <hex>', 'an instruction; repeatable', collect)
    .option('--bytes-file <file>', 'file with one instruction in hex a line; - is stdin')
    .addHelpText(
      'after',
      `
Examples:
  trapline explain ./calc:add
  trapline explain --explain-offset ./calc:add+4
  trapline explain --kernel k6.18 --bytes 0f1f440000
  trapline explain --json --bytes-file encodings.txt`,
    )
    .action(async (site: string | undefined, options: ExplainOptions) => {
      const { explain } = await import('../commands/explain.ts');
      done(await explain(site, options));
    });
};
