import { Decoder, DecoderOptions, Formatter, FormatterSyntax } from 'iced-x86';

/** Text of an instruction iced-x86 cannot decode, as objdump prints it. */
const BAD = '(bad)';

/**
 * Prints instructions in AT&T syntax, as objdump and the kernel's documentation do. Holds memory of
 * the wasm module: `free` it.
 */
export class Printer {
  readonly #formatter = new Formatter(FormatterSyntax.Gas);

  constructor() {
    this.#formatter.uppercaseHex = false;
    this.#formatter.smallHexNumbersInDecimal = false;
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

  free(): void {
    this.#formatter.free();
  }
}
