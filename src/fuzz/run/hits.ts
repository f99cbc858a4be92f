/** What handlers saw and did, in order. */
import { Reg, type Reg as RegIndex, type RegisterFile } from '../../cpu/engine.ts';
import type { Act, CaseConsumer } from '../case.ts';
import { REGISTERS } from '../guest/layout.ts';

/** One call of a handler. */
export interface SeenHit {
  /** Index of the probe and of the consumer in it. */
  readonly probe: number;
  readonly consumer: number;
  readonly on: 'entry' | 'return';
  /** General registers by hardware number, ip, flags; as the handler found them. */
  readonly regs: BigUint64Array;
}

const COMPARED = [...Array(18).keys()] as RegIndex[];

export const registersNow = (regs: RegisterFile): BigUint64Array =>
  BigUint64Array.from(COMPARED, (reg) => regs.read(reg));

const registerOf = (name: Exclude<Act['set'], 'signal'>): RegIndex => {
  if (name === 'ip') return Reg.Rip;
  return name === 'flags' ? Reg.Rflags : REGISTERS[name];
};

/** The handlers of one case: they note what they see, and do what the case says. */
export class HitLog {
  readonly seen: SeenHit[] = [];
  readonly #counts = new Map<string, number>();
  readonly #sendSignal: (signal: number) => void;

  constructor(sendSignal: (signal: number) => void) {
    this.#sendSignal = sendSignal;
  }

  /** One call begins. */
  clear(): void {
    this.seen.length = 0;
    this.#counts.clear();
  }

  record(
    place: { readonly probe: number; readonly consumer: number; readonly does: CaseConsumer },
    on: SeenHit['on'],
    regs: RegisterFile,
    entry: bigint,
  ): void {
    const { probe, consumer, does } = place;
    this.seen.push({ probe, consumer, on, regs: registersNow(regs) });
    if (does.acts === undefined) return;
    const key = `${probe}.${consumer}.${on}`;
    const hit = this.#counts.get(key) ?? 0;
    this.#counts.set(key, hit + 1);
    for (const act of does.acts)
      if (act.on === on && act.hit === hit) this.#perform(act, regs, entry);
  }

  /** @param entry address of the code's first byte */
  #perform({ set, value }: Act, regs: RegisterFile, entry: bigint): void {
    const number = value.startsWith('-') ? -BigInt(value.slice(1)) : BigInt(value);
    if (set === 'signal') {
      this.#sendSignal(Number(number));
      return;
    }
    const reg = registerOf(set);
    if (set === 'ip') regs.write(reg, entry + number);
    else if (set === 'sp') regs.write(reg, regs.read(reg) + number);
    else regs.write(reg, number);
  }
}
