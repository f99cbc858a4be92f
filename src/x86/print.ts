import { Decoder, DecoderOptions, Formatter, FormatterSyntax } from 'iced-x86';

/** Text of an instruction iced-x86 cannot decode, as objdump prints it. */
const BAD = '(bad)';

/** One line of {@link Printer.listing}. */
export interface PrintedInstruction {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * Prints instructions in AT&T syntax, as objdump and the kernel's documentation do. Holds memory of
 * the wasm module: `free` it.
 */
export class Printer {
  readonly #formatter = new Formatter(FormatterSyntax.Gas);

  constructor() {
    this.#formatter.uppercaseHex = false;
    this.#formatter.smallHexNumbersInDecimal = false;
    this.#formatter.branchLeadingZeros = false;
  }

  /**
   * @param bytes the instruction's bytes; what follows it is ignored
   * @param address where it lies, for relative targets
   */
  print(bytes: Uint8Array, address: bigint): string {
    return this.read(bytes, address).text;
  }

  /** As {@link print}, with the instruction's length; null when there is no instruction. */
  read(
    bytes: Uint8Array,
    address: bigint,
  ): { readonly text: string; readonly length: number | null } {
    const decoder = new Decoder(64, bytes, DecoderOptions.None);
    decoder.ip = address;
    const instruction = decoder.decode();
    const { isInvalid, length } = instruction;
    const text = isInvalid ? BAD : this.#formatter.format(instruction);
    instruction.free();
    decoder.free();
    return { text, length: isInvalid ? null : length };
  }

  /** Prints instruction after instruction; bytes that do not decode end the list. */
  listing(bytes: Uint8Array, address: bigint): readonly PrintedInstruction[] {
    const lines: PrintedInstruction[] = [];
    for (let at = 0; at < bytes.length; ) {
      const rest = bytes.subarray(at);
      const { text, length } = this.read(rest, address + BigInt(at));
      if (length === null) break;
      lines.push({ bytes: rest.subarray(0, length), text });
      at += length;
    }
    return lines;
  }

  free(): void {
    this.#formatter.free();
  }
}
