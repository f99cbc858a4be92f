import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { Machine, MemoryTree } from '../../src/index.ts';

/** The program's path when the goldens were recorded. */
export const PROGRAM = '/tmp/trapline-golden/fetch-args';

/** File offsets of fetch-args.elf: its `xor %edi, %edi` before the exit, and unused bytes of the page. */
const EXIT_AT = 0x10a7;
const CAVE_AT = 0x1100;

/** `jmp cave` */
const LEAVE = [0xe9, ...[CAVE_AT - (EXIT_AT + 5), 0, 0, 0]];
/** `xor %eax,%eax; xor %edi,%edi; mov $0x402000,%esi; mov $1,%edx; syscall; jmp _start` */
const AGAIN = [
  ...[0x31, 0xc0, 0x31, 0xff, 0xbe, 0x00, 0x20, 0x40, 0x00],
  ...[0xba, 1, 0, 0, 0, 0x0f, 0x05],
  ...[0xe9, 0xeb, 0xfe, 0xff, 0xff],
];

/** fetch-args.elf that reads a byte from its standard input and starts again instead of exiting. */
const program = (): Uint8Array => {
  const elf = new Uint8Array(
    readFileSync(join(import.meta.dirname, '..', 'goldens', 'fetch-args.elf')),
  );
  elf.set(LEAVE, EXIT_AT);
  elf.set(AGAIN, CAVE_AT);
  return elf;
};

/** A machine whose program runs from start to end each time it is told to. */
export class SessionMachine {
  readonly machine: Machine;
  #abort = new AbortController();
  #go: (bytes: Uint8Array) => void = () => {};

  constructor(engine: EngineFactory) {
    this.machine = Machine.create({
      engine,
      profile: 'k6.18',
      program: {
        path: PROGRAM,
        tree: new MemoryTree({ 'fetch-args': { bytes: program(), mode: 0o755 } }),
        file: 'fetch-args',
      },
      io: {
        stdin: {
          read: () => {
            // Not before somebody listens.
            setTimeout(() => this.#abort.abort());
            return new Promise((resolve) => {
              this.#go = resolve;
            });
          },
        },
      },
    });
  }

  /** One run of the program. */
  async run(): Promise<void> {
    this.#abort = new AbortController();
    this.#go(Uint8Array.of(0));
    const end = await this.machine.run({ abort: this.#abort.signal });
    if (end.kind !== 'limit') throw new Error(`the program ended: ${end.kind}`);
  }

  [Symbol.dispose](): void {
    this.machine.dispose();
  }
}
