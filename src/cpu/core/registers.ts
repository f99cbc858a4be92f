import { Reg, type RegisterFile } from '../engine.ts';
import { readFlags, TF, writeFlags } from './flags-word.ts';
import { readFxImage, writeFxImage } from './fx-image.ts';
import { STATE } from './layout.ts';
import type { Frames } from './memory/frames.ts';

const LOW = 0xffff_ffffn;

const addressOf = (reg: Reg): number => {
  if (reg < Reg.Rip) return STATE.gpr + 8 * reg;
  if (reg === Reg.Rip) return STATE.rip;
  return reg === Reg.FsBase ? STATE.fsBase : STATE.gsBase;
};

/** The registers in linear memory. */
export class Registers implements RegisterFile {
  readonly #frames: Frames;

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  read(reg: Reg): bigint {
    if (reg === Reg.Rflags) return BigInt(readFlags(this.#frames));
    return this.#frames.view.getBigUint64(addressOf(reg), true);
  }

  write(reg: Reg, value: bigint): void {
    if (reg === Reg.Rflags) writeFlags(this.#frames, Number(value & LOW));
    else this.#frames.view.setBigUint64(addressOf(reg), value, true);
  }

  get trapFlag(): boolean {
    return (this.#frames.words[STATE.control >> 2]! & TF) !== 0;
  }

  set trapFlag(on: boolean) {
    const { words } = this.#frames;
    const control = words[STATE.control >> 2]!;
    words[STATE.control >> 2] = on ? control | TF : control & ~TF;
  }

  readFx(into: Uint8Array): void {
    readFxImage(this.#frames, into);
  }

  writeFx(image: Uint8Array): void {
    writeFxImage(this.#frames, image);
  }
}
