import type { Command } from 'commander';
import type { VerifyOptions } from '../commands/verify.ts';
import { collect, common, type Done } from './common.ts';

export const addVerify = (program: Command, done: Done): void => {
  const command = common(program.command('verify'), "this machine's");
  command.on('option:clear-env', () => command.setOptionValue('env', []));
  command
    .summary("compare with this machine's own kernel")
    .description(
      "Runs a program with its probes here and on this machine's kernel, and prints where the two differ. Needs root and Linux with uprobes.",
    )
    .usage('[options] PROGRAM [ARG...]')
    .argument('<program>', 'the program')
    .argument('[args...]', 'its arguments')
    .option('-p, --probe <def>', 'a line of uprobe_events, as for run; repeatable', collect)
    .option('--probes <file>', 'file with one probe a line, # comments')
    .option('--env <name=value>', 'sets a variable of the program; repeatable', collect)
    .option('--clear-env', 'forgets every --env before it')
    .option('--timeout <seconds>', 'gives up after that time (default: 60)')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Compared are the trace (in the normal form: addresses from 0x7ff000000000 on are HIGH), stdout, stderr, the end and the hit
counts. A unified diff shows what the kernel did as - and what we did as +. The program sees this machine's files on both
sides, with the environment of --env only. Only the files that probes name are probed, for as long as the program runs; hits of
other processes that use the same file count too. Programs that fork or make threads come later.

A libc chooses its string functions by the CPU. To hide from it what the engine lacks, give both runs
  --env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX,-AVX512F,-BMI2,-LZCNT

Examples:
  trapline verify -p 'p:add @:add a=%di:s32' -p 'r:sum @:add $retval:s32' ./calc 2 40
  trapline verify --json --probes probes.txt ./server < request

Exit status: 0 equal; 1 different; 2 wrong use; 124 the time limit; 125 it cannot run here.`,
    )
    .action(async (path: string, args: readonly string[], options: VerifyOptions) => {
      const { verify } = await import('../commands/verify.ts');
      done(await verify(path, args, options));
    });
};
