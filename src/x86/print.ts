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
    const decoder = new Decoder(64, bytes, DecoderOptions.None);
    decoder.ip = address;
    const instruction = decoder.decode();
    const text = instruction.isInvalid ? BAD : this.#formatter.format(instruction);
    instruction.free();
    decoder.free();
    return text;
  }

  /** Prints instruction after instruction; bytes that do not decode end the list. */
  listing(bytes: Uint8Array, address: bigint): readonly PrintedInstruction[] {
    const lines: PrintedInstruction[] = [];
    for (let at = 0; at < bytes.length; ) {
      const rest = bytes.subarray(at);
      const size = this.#length(rest);
      if (size === 0) break;
      lines.push({ bytes: rest.subarray(0, size), text: this.print(rest, address + BigInt(at)) });
      at += size;
    }
    return lines;
  }

  #length(bytes: Uint8Array): number {
    const decoder = new Decoder(64, bytes, DecoderOptions.None);
    const instruction = decoder.decode();
    const size = instruction.isInvalid ? 0 : instruction.length;
    instruction.free();
    decoder.free();
    return size;
  }

  free(): void {
    this.#formatter.free();
  }
}
