import type { Command } from 'commander';
import { type CommonOptions, common, type Done } from './common.ts';

/** `trapline conform`. */
export const addConform = (program: Command, done: Done): void => {
  common(program.command('conform'), 'that of the kernel that made the table')
    .summary('run a table of recorded instruction cases')
    .description(
      'Runs what a real kernel was recorded doing, instruction by instruction, and reports where we differ.',
    )
    .argument(
      '<table>',
      'JSON in the form of insn-exec.json, insn-table.json or accept-sweep.json; - is stdin',
    )
    .addHelpText(
      'after',
      `
Each difference is a line: case, run, what, expected, got. The last line is AGREE n/m: of m cases that ran, n agree;
cases that the engine cannot run are counted by reason. Flags that the manual leaves undefined are not compared.

Examples:
  trapline conform insn-exec.json
  trapline conform --engine unicorn-native --json insn-exec.json
  trapline conform --kernel k6.18 accept-sweep.json

Exit status: 0 all that ran agree, and something ran; 1 otherwise; 2 wrong use; 125 the table cannot be used.`,
    )
    .action(async (table: string, options: CommonOptions) => {
      const { conform } = await import('../commands/conform.ts');
      done(await conform(table, options));
    });
};
