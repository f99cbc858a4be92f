/** RFLAGS by iced-x86's tables, and the flags whose value the manual leaves open. */
import { Decoder, DecoderOptions, Instruction, RflagsBits } from 'iced-x86';

/** iced-x86's bits and those of RFLAGS. */
const FLAGS: readonly (readonly [iced: number, rflags: bigint])[] = [
  [RflagsBits.OF, 1n << 11n],
  [RflagsBits.SF, 1n << 7n],
  [RflagsBits.ZF, 1n << 6n],
  [RflagsBits.AF, 1n << 4n],
  [RflagsBits.CF, 1n],
  [RflagsBits.PF, 1n << 2n],
];

/** The bits of RFLAGS that iced-x86's bits stand for. */
export const rflagsOf = (iced: number): bigint =>
  FLAGS.reduce((bits, [mask, bit]) => ((iced & mask) === 0 ? bits : bits | bit), 0n);

/**
 * RFLAGS bits that are undefined after instructions that run one after the other.
 * @param bytes begin with the first and end behind the last of them
 */
export const undefinedFlagsAfter = (bytes: Uint8Array): bigint => {
  const decoder = new Decoder(64, bytes, DecoderOptions.None);
  const instruction = new Instruction();
  let open = 0n;
  while (decoder.canDecode) {
    decoder.decodeOut(instruction);
    if (instruction.isInvalid) break;
    open &= ~rflagsOf(instruction.rflagsModified);
    open |= rflagsOf(instruction.rflagsUndefined);
  }
  instruction.free();
  decoder.free();
  return open;
};
