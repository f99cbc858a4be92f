/** The command line. Nothing heavy is imported here: a command loads itself. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { UsageError } from './errors.ts';
import { complain } from './output.ts';
import type { Done } from './program/common.ts';
import { addConform } from './program/conform.ts';
import { addExplain } from './program/explain.ts';
import { addFuzz } from './program/fuzz.ts';
import { addList } from './program/list.ts';
import { addProfiles } from './program/profiles.ts';
import { addRun } from './program/run.ts';
import { addVerify } from './program/verify.ts';

const version = (): string => {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};

/** Every command adds itself; one file each. */
const COMMANDS = [addRun, addList, addExplain, addProfiles, addConform, addVerify, addFuzz];

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
  const done: Done = (code) => {
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
  for (const add of COMMANDS) add(program, done);
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
