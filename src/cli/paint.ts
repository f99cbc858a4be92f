/** Colours for instructions and verdicts. */
import type { Colors } from './output.ts';

/** AT&T text: mnemonic, registers, numbers. */
export const paintInstruction = (text: string, colors: Colors): string => {
  const [, mnemonic = text, operands = ''] = /^(\S+)(.*)$/s.exec(text) ?? [];
  return (
    colors.bold(mnemonic) +
    operands
      .replace(/%\w+/g, (register) => colors.green(register))
      .replace(/(?<![\w[;])[-$]?(0x)?[0-9a-fA-F]+\b(?!m)/g, (number) => colors.yellow(number))
  );
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
