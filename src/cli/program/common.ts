import { type Command, Option } from 'commander';

/** Options that every command takes. */
export interface CommonOptions {
  readonly json?: boolean;
  /** Absent = the command's default. */
  readonly kernel?: string;
  readonly engine: 'auto' | 'unicorn' | 'unicorn-native' | 'core';
  readonly color: boolean;
}

/** Told the exit status of a command. */
export type Done = (status: number) => void;

/** Adds the options of {@link CommonOptions}. */
export const common = (command: Command, kernel = 'the newest'): Command =>
  command
    .option('--json', 'JSON instead of text')
    .option(
      '--kernel <profile>',
      `kernel release whose rules hold; see \`trapline profiles\` (default: ${kernel})`,
    )
    .addOption(
      new Option('--engine <name>', 'CPU engine')
        .choices(['auto', 'unicorn', 'unicorn-native', 'core'])
        .default('unicorn'),
    )
    .option('--no-color', 'no colours (also: NO_COLOR, or stdout is no terminal)');

/** For options that may be given again and again. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];
