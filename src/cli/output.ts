/** Everything the commands print goes through here. */
import { createColors } from 'picocolors';
import { inWords } from '../host/node/host-errors.ts';

/** What was printed is lost in part: no success, and no answer either. */
const LOST = 125;

/**
 * A reader that went away (`trapline list … | head`) is no error of ours; a full disk is said in one
 * line, unless it is stderr that cannot be written.
 */
export const endOnLostOutput = (): void => {
  for (const [name, stream] of [
    ['stdout', process.stdout],
    ['stderr', process.stderr],
  ] as const)
    stream.on('error', ({ code = 'EIO' }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') process.exit(0);
      if (name === 'stdout') complain(`cannot write to stdout: ${inWords(code)}`);
      process.exit(LOST);
    });
};

/** Lines to stdout, in one write. */
export const print = (lines: readonly string[]): void => {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
};

/** One document. JSON escapes control characters up to 0x1f; terminals obey some above, too. */
export const printJson = (document: unknown): void =>
  print([JSON.stringify(document).replace(/[\x7f-\x9f]/g, (char) => `\\u00${hexByte(char)}`)]);

/** Names out of files and command lines may hold control characters; a terminal must not see them. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replace(/[\x00-\x1f\x7f-\x9f]/g, (char) => `\\x${hexByte(char)}`);

const hexByte = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, '0');

/** One line about ourselves, on stderr. */
export const complain = (text: string): void => {
  process.stderr.write(`trapline: ${printable(text.replace(/\s*\n\s*/g, ' '))}\n`);
};

export type Colors = ReturnType<typeof createColors>;

/** Colours, where they are wanted and stdout is a terminal. */
export const colorsFor = (wanted: boolean): Colors =>
  createColors(wanted && !process.env.NO_COLOR && process.stdout.isTTY === true);
