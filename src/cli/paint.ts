/** Colours for instructions and verdicts. */
import type { Colors } from './output.ts';

/** AT&T text: mnemonic, registers, numbers. */
export const paintInstruction = (text: string, colors: Colors): string => {
  const [, mnemonic = text, operands = ''] = /^(\S+)(.*)$/s.exec(text) ?? [];
  const painted = operands.replace(/%\w+|[-$]*\b(?:0x[\da-f]+|\d+)\b/g, (token) =>
    token.startsWith('%') ? colors.green(token) : colors.yellow(token),
  );
  return colors.bold(mnemonic) + painted;
};

/** A verdict's word, padded or not. */
export const paintVerdict = (word: string, colors: Colors): string => {
  switch (word.trim()) {
    case 'refuse':
      return colors.red(word);
    case 'emulate':
      return colors.green(word);
    default:
      return colors.yellow(word);
  }
};
