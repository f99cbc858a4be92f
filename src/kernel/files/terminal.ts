import { view } from '../../base/bytes.ts';

/** struct termios of the kernel (asm-generic/termbits.h): four flag words, line, 19 characters. */
export const TERMIOS_SIZE = 36;

// The driver's default, tty_std_termios: what `stty -a` shows on a fresh terminal.
const ICRNL_IXON = 0x500;
const OPOST_ONLCR = 0x5;
const B38400_CS8_CREAD = 0xbf;
const COOKED = 0x8a3b; // ISIG ICANON ECHO ECHOE ECHOK ECHOCTL ECHOKE IEXTEN
/** ^C ^\ DEL ^U ^D, VTIME, VMIN 1, VSWTC, ^Q ^S ^Z, VEOL, ^R ^O ^W ^V, VEOL2 (INIT_C_CC). */
const CONTROL = [3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0, 0, 0];

const freshTermios = (): Uint8Array => {
  const bytes = new Uint8Array(TERMIOS_SIZE);
  const words = view(bytes);
  [ICRNL_IXON, OPOST_ONLCR, B38400_CS8_CREAD, COOKED].forEach((word, i) => {
    words.setUint32(4 * i, word, true);
  });
  bytes.set(CONTROL, 17);
  return bytes;
};

export interface WindowSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The settings of the guest's terminal. They are only kept for the guest to read back: the host's
 * terminal stays as its user has it.
 */
export class Terminal {
  size: WindowSize;
  #termios = freshTermios();

  constructor(size: WindowSize = { rows: 24, columns: 80 }) {
    this.size = size;
  }

  get termios(): Uint8Array {
    return this.#termios.slice();
  }

  set termios(bytes: Uint8Array) {
    this.#termios = bytes.slice(0, TERMIOS_SIZE);
  }
}
