/** Everything the commands print goes through here. */
import { createColors } from 'picocolors';

/** A reader that went away (`trapline list … | head`) is no error of ours. */
export const endQuietlyOnClosedPipe = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(0);
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
