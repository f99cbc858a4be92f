import { type Command, Option } from 'commander';
import type { RunOptions } from '../commands/run.ts';
import { collect, common, type Done } from './common.ts';

export const addRun = (program: Command, done: Done): void => {
  const command = common(program.command('run'));
  command.on('option:clear-env', () => command.setOptionValue('env', []));
  command
    .summary('run a program with probes attached')
    .description(
      'Loads an x86-64 ELF program, attaches probes, runs it to its end and prints what Linux would print.',
    )
    .usage('[options] PROGRAM [ARG...]')
    .argument('<program>', 'the program')
    .argument('[args...]', 'its arguments')
    .option('-p, --probe <def>', 'a line of uprobe_events; repeatable', collect)
    .option('--probes <file>', 'file with one probe a line, # comments')
    .option('-o, --output <file>', 'where the trace goes; - is stdout (default: stderr)')
    .addOption(
      new Option('--format <format>', 'form of the trace')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--profile', 'at the end, hits of every probe as in uprobe_profile')
    .option('--stats', 'at the end, counters')
    .option('--root <dir>', "DIR is the guest's /, read-only (default: empty)")
    .option('--mount <host:guest[:rw]>', 'shows a host directory or file to the guest', collect)
    .option('--env <name=value>', 'sets a variable of the program; repeatable', collect)
    .option('--clear-env', 'forgets every --env before it')
    .option('--seed <n>', 'seed of all randomness', '1')
    .option('--max-instructions <n>', 'ends the run after about N instructions')
    .option('--timeout <seconds>', 'ends the run after that time')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Probes:
  p[:[GRP/]EVENT] PATH:OFFSET[(REF_CTR)] [FETCHARG...]   at entry of an instruction
  r[:[GRP/]EVENT] PATH:OFFSET[(REF_CTR)] [FETCHARG...]   at return of a function
  The site may also be PATH:SYMBOL, PATH:SYMBOL+N or PATH:%PROVIDER:NAME; @ alone is the program.

Examples:
  trapline run -p 'p:add @:add a=%di:s32 b=%si:s32' -p 'r:sum @:add $retval:s32' ./calc 2 40
  trapline run --kernel k6.18 --probes probes.txt --profile -o trace.txt ./server
  trapline run --root / -p 'p /usr/lib/x86_64-linux-gnu/libc.so.6:getenv +0(%di):string' /bin/date

Exit status: the program's; 128+N when signal N ended it; 2 wrong use; 125 not started; 124 our limit.`,
    )
    .action(async (path: string, args: readonly string[], options: RunOptions) => {
      const { run } = await import('../commands/run.ts');
      done(await run(path, args, options));
    });
};
