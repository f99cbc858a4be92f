import { Flag, type Rounding } from '../float/format.ts';
import { STATE } from '../layout.ts';
import type { Frames } from '../memory/frames.ts';
import {
  type Control,
  type Extended,
  type ExtendedNumber,
  type ExtendedResult,
  INDEFINITE,
  takeApart,
} from './extended.ts';

/** Status word (SDM vol. 1, 8.1.3). */
export const Status = {
  stackFault: 1 << 6,
  errorSummary: 1 << 7,
  c0: 1 << 8,
  c1: 1 << 9,
  c2: 1 << 10,
  top: 11,
  c3: 1 << 14,
  busy: 1 << 15,
} as const;
const CONDITIONS = Status.c0 | Status.c1 | Status.c2 | Status.c3;
const EXCEPTIONS = 0x3f;
const BEFORE = Flag.invalid | Flag.denormal | Flag.divideByZero;
/** Significand bits by the control word's precision field; 1 is reserved. */
const PRECISIONS = [24, 64, 53, 64] as const;

/** The x87 state in linear memory, with the rules of its stack and exceptions. */
export class Fpu {
  readonly frames: Frames;

  constructor(frames: Frames) {
    this.frames = frames;
  }

  get #view(): DataView {
    return this.frames.view;
  }

  get controlWord(): number {
    return this.#view.getUint16(STATE.fcw, true);
  }
  /** Also says whether an exception noted already is pending now. */
  set controlWord(word: number) {
    // Bit 6 reads as 1 (SDM vol. 1, figure 8-6).
    this.#view.setUint16(STATE.fcw, (word & 0x1f3f) | 0x40, true);
    this.status = this.status;
  }

  get status(): number {
    return this.#view.getUint16(STATE.fsw, true);
  }
  /** Summary and busy follow from the exceptions. */
  set status(word: number) {
    const pending = (word & ~this.controlWord & EXCEPTIONS) !== 0;
    const summary = Status.errorSummary | Status.busy;
    this.#view.setUint16(STATE.fsw, pending ? word | summary : word & ~summary, true);
  }

  /** One bit a physical register: in use. */
  get tags(): number {
    return this.#view.getUint8(STATE.ftw);
  }
  set tags(bits: number) {
    this.#view.setUint8(STATE.ftw, bits);
  }

  get top(): number {
    return (this.status >> Status.top) & 7;
  }
  set top(top: number) {
    this.status = (this.status & ~(7 << Status.top)) | ((top & 7) << Status.top);
  }

  get control(): Control {
    const word = this.controlWord;
    return {
      mode: ((word >> 10) & 3) as Rounding,
      precision: PRECISIONS[(word >> 8) & 3]!,
      masked: word & EXCEPTIONS,
    };
  }

  #physical(i: number): number {
    return (this.top + i) & 7;
  }

  isEmpty(i: number): boolean {
    return (this.tags & (1 << this.#physical(i))) === 0;
  }

  bits(i: number): Extended {
    const at = STATE.st + 16 * this.#physical(i);
    return (BigInt(this.#view.getUint16(at + 8, true)) << 64n) | this.#view.getBigUint64(at, true);
  }

  number(i: number): ExtendedNumber {
    return takeApart(this.bits(i));
  }

  put(i: number, bits: Extended): void {
    const physical = this.#physical(i);
    const at = STATE.st + 16 * physical;
    this.#view.setBigUint64(at, BigInt.asUintN(64, bits), true);
    this.#view.setUint16(at + 8, Number(bits >> 64n), true);
    this.tags |= 1 << physical;
  }

  free(i: number): void {
    this.tags &= ~(1 << this.#physical(i));
  }

  pop(): void {
    this.free(0);
    this.top++;
  }

  /** Sets the condition bits; those not given are cleared. */
  conditions(bits: number): void {
    this.status = (this.status & ~CONDITIONS) | bits;
  }

  setC1(on: boolean): void {
    this.status = on ? this.status | Status.c1 : this.status & ~Status.c1;
  }

  /** Notes exceptions. False = one of those that come before the result is not masked: nothing else may change. */
  note(flags: number): boolean {
    const early = (flags & BEFORE & ~this.controlWord) !== 0;
    this.status |= early ? flags & (BEFORE | Status.stackFault) : flags;
    return !early;
  }

  /** A register that should be there is not. False = nothing else may change. */
  underflow(): boolean {
    this.setC1(false);
    return this.note(Flag.invalid | Status.stackFault);
  }

  /** A result for register `i`. False = an exception forbids it. */
  deliver(i: number, result: ExtendedResult): boolean {
    this.setC1(false);
    if (!this.note(result.flags)) return false;
    this.setC1(result.up);
    this.put(i, result.bits);
    return true;
  }

  pushUnchecked(bits: Extended): void {
    this.top--;
    this.put(0, bits);
  }

  /** Pushes, or notes that there is no room. */
  push(result: ExtendedResult): boolean {
    if (!this.isEmpty(7)) {
      this.setC1(true);
      if (!this.note(Flag.invalid | Status.stackFault)) return false;
      this.pushUnchecked(INDEFINITE);
      return true;
    }
    this.setC1(false);
    if (!this.note(result.flags)) return false;
    this.setC1(result.up);
    this.pushUnchecked(result.bits);
    return true;
  }

  /** FNINIT. */
  reset(): void {
    this.#view.setUint16(STATE.fcw, 0x37f, true);
    this.#view.setUint16(STATE.fsw, 0, true);
    this.tags = 0;
  }
}
