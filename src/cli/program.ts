/** The commands and their options. Nothing heavy is imported here: a command loads itself. */
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { ExplainOptions } from './commands/explain.ts';
import type { ProfilesOptions } from './commands/profiles.ts';
import type { RunOptions } from './commands/run.ts';
import { UsageError } from './errors.ts';
import { complain } from './output.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly json?: boolean;
  /** Absent = the command's default. */
  readonly kernel?: string;
  readonly engine: 'auto' | 'unicorn' | 'unicorn-native';
  readonly color: boolean;
}

const version = (): string => {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};

const common = (command: Command, kernel = 'the newest'): Command =>
  command
    .option('--json', 'JSON instead of text')
    .option(
      '--kernel <profile>',
      `kernel release whose rules hold; see \`trapline profiles\` (default: ${kernel})`,
    )
    .addOption(
      new Option('--engine <name>', 'CPU engine')
        .choices(['auto', 'unicorn', 'unicorn-native'])
        .default('unicorn'),
    )
    .option('--no-color', 'no colours (also: NO_COLOR, or stdout is no terminal)');

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

const addRun = (program: Command, done: (status: number) => void): void => {
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
      const { run } = await import('./commands/run.ts');
      done(await run(path, args, options));
    });
};

const addList = (program: Command, done: (status: number) => void): void => {
  common(program.command('list'))
    .summary('what can be probed in a program or library')
    .description('Functions and USDT sites, with file offset, address, first instruction, verdict.')
    .argument('<program>', 'an ELF program or library')
    .addHelpText('after', '\nExample:\n  trapline list ./calc --kernel k6.18')
    .action(async (path: string, options: CommonOptions) => {
      const { list } = await import('./commands/list.ts');
      done(await list(path, options));
    });
};

const addExplain = (program: Command, done: (status: number) => void): void => {
  common(program.command('explain'), 'all for a site, the newest for bytes')
    .summary('one site in depth, or bare instruction bytes')
    .description('What the kernel makes of an instruction: refused, emulated or stepped, and why.')
    .usage('[options] PROGRAM:SITE | --bytes HEX | --bytes-file FILE')
    .argument('[site]', 'PROGRAM:OFFSET, PROGRAM:SYMBOL or PROGRAM:SYMBOL+N')
    .option('--bytes <hex>', 'an instruction; repeatable', collect)
    .option('--bytes-file <file>', 'file with one instruction in hex a line; - is stdin')
    .addHelpText(
      'after',
      `
Examples:
  trapline explain ./calc:add
  trapline explain --kernel k6.18 --bytes 0f1f440000
  trapline explain --json --bytes-file encodings.txt`,
    )
    .action(async (site: string | undefined, options: ExplainOptions) => {
      const { explain } = await import('./commands/explain.ts');
      done(await explain(site, options));
    });
};

const addProfiles = (program: Command, done: (status: number) => void): void => {
  common(program.command('profiles'), 'all')
    .summary('the kernel releases and how they differ')
    .description('The kernel profiles and their switches; --kernel shows one of them.')
    .option('--diff <profiles...>', 'what differs between two of them')
    .addHelpText('after', '\nExamples:\n  trapline profiles\n  trapline profiles --diff k6.18 k7.3')
    .action(async (options: ProfilesOptions) => {
      const { profiles } = await import('./commands/profiles.ts');
      done(await profiles(options));
    });
};

/** Commander's messages in our form: one line, our name before it. */
const oneLine = (text: string): string =>
  text
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim();

/** Runs a command line; returns the exit status. */
export const runCommandLine = async (args: readonly string[]): Promise<number> => {
  if (args.length === 0) throw new UsageError('no command given; see --help');
  let status = 0;
  const done = (code: number): void => {
    status = code;
  };
  const program = new Command('trapline')
    .description(
      'Runs x86-64 Linux programs on an emulated CPU with uprobes as the kernel has them.',
    )
    .version(version(), '-V, --version')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text) => complain(`${oneLine(text)}; see --help`) })
    .addHelpText('after', '\n`trapline COMMAND --help` tells more, with examples.');
  for (const add of [addRun, addList, addExplain, addProfiles]) add(program, done);
  const [first, topic] = args;
  // Commander would answer with the whole help.
  if (
    first === 'help' &&
    topic !== undefined &&
    !program.commands.some((one) => one.name() === topic)
  )
    throw new UsageError(`there is no command ${topic} to help with; see --help`);
  await program.parseAsync(args, { from: 'user' });
  return status;
};
