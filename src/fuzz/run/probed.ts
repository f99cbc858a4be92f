/** Attaches a case's probes and calls the function. */
import { toHex } from '../../base/bytes.ts';
import type { Consumer, Handle } from '../../uprobes/index.ts';
import { HandlerResult } from '../../uprobes/index.ts';
import { watchTextWrites } from '../../uprobes/testing.ts';
import { type CaseConsumer, type FuzzCase, returns } from '../case.ts';
import type { Guest } from '../guest/guest.ts';
import { FAR_TEXT, TEXT } from '../guest/layout.ts';
import type { Outcome } from '../guest/outcome.ts';
import type { HitLog } from './hits.ts';

/** One call with the probes attached, or just gone. */
export interface ProbedCall {
  /** `call 2`, `after the last probe`, `with the text at cc1f440000` … */
  readonly when: string;
  readonly outcome: Outcome;
  /** Handlers were counted. */
  readonly counted: boolean;
  /** Through the second mapping of the text; or when all probes had gone. */
  readonly far: boolean;
  readonly after: boolean;
}

/** Longest site that is changed as a whole. */
const LONGEST_SITE = 10;

export class ProbedRun {
  readonly #guest: Guest;
  readonly #test: FuzzCase;
  readonly #log: HitLog;
  readonly #handles: { readonly handle: Handle; readonly probe: number }[] = [];
  /** States of the text while it was changed, by address and bytes. */
  readonly #states = new Map<string, { readonly site: bigint; readonly bytes: Uint8Array }>();

  constructor(guest: Guest, test: FuzzCase, log: HitLog) {
    this.#guest = guest;
    this.#test = test;
    this.#log = log;
  }

  /**
   * All calls of the case, one after the other, told to `each` as they come; it answers whether to go on.
   * @returns false when a probe is refused
   */
  run(each: (call: ProbedCall) => boolean): boolean {
    const { uprobes } = this.#guest;
    const unwatch = this.#test.states === true ? this.#watch() : null;
    try {
      return this.#calls(each);
    } finally {
      unwatch?.();
      this.#guest.forget();
      for (const { handle } of this.#handles) uprobes.unregister(handle);
      this.#guest.restoreText();
    }
  }

  #calls(each: (call: ProbedCall) => boolean): boolean {
    const { calls, after } = this.#test;
    for (let call = 0; call < calls; call++) {
      if (!this.#change(call)) return false;
      if (!each(this.#call(`call ${call + 1}`, { counted: true }))) return true;
    }
    if (this.#test.far === true && !returns(this.#test))
      for (let call = 0; call < calls; call++)
        if (!each(this.#call(`call ${call + 1} far away`, { far: true }))) return true;
    for (const [state, { site, bytes }] of this.#states) {
      const { engine } = this.#guest.mm;
      const now = new Uint8Array(bytes.length);
      engine.peek(site, now);
      engine.poke(site, bytes);
      const outcome = this.#call(`with the text at ${state}`, {});
      engine.poke(site, now);
      if (!each(outcome)) return true;
    }
    if (after !== true) return true;
    this.#guest.forget();
    for (const { handle } of this.#handles.splice(0)) this.#guest.uprobes.unregister(handle);
    each(this.#call('after the last probe has gone', { after: true }));
    return true;
  }

  #call(when: string, place: { counted?: boolean; far?: boolean; after?: boolean }): ProbedCall {
    this.#log.clear();
    const { counted = false, far = false, after = false } = place;
    const text = far ? FAR_TEXT.start : TEXT.start;
    return { when, outcome: this.#guest.call(this.#test, text), counted, far, after };
  }

  /** Attaches and detaches what the case wants before this call. */
  #change(call: number): boolean {
    const { probes } = this.#test;
    for (const [probe, { until }] of probes.entries())
      if (until === call)
        for (const one of this.#handles)
          if (one.probe === probe) this.#guest.uprobes.unregister(one.handle);
    for (const [probe, { from = 0, site, consumers }] of probes.entries()) {
      if (from !== call) continue;
      for (const [consumer, does] of consumers.entries())
        if (!this.#attach(site, { probe, consumer, does })) return false;
    }
    return true;
  }

  #attach(
    site: number,
    place: { readonly probe: number; readonly consumer: number; readonly does: CaseConsumer },
  ): boolean {
    const { uprobes, file } = this.#guest;
    const handle = uprobes.register(file, BigInt(this.#test.at + site), this.#consumer(place));
    if (typeof handle === 'string') return false;
    this.#handles.push({ handle, probe: place.probe });
    return true;
  }

  #consumer(place: {
    readonly probe: number;
    readonly consumer: number;
    readonly does: CaseConsumer;
  }): Consumer {
    const start = TEXT.start + BigInt(this.#test.at);
    const entry: Consumer['entry'] = ({ regs }) => {
      this.#log.record(place, 'entry', regs, start);
      return HandlerResult.Continue;
    };
    const onReturn: Consumer['return'] = ({ regs }) =>
      this.#log.record(place, 'return', regs, start);
    const { kind } = place.does;
    if (kind === 'entry') return { entry };
    return kind === 'return' ? { return: onReturn } : { entry, return: onReturn };
  }

  /** Notes each state of the text; it is tried later, since nothing else runs while text is written. */
  #watch(): () => void {
    return watchTextWrites(this.#guest.uprobes, ({ mm, site }) => {
      const bytes = new Uint8Array(LONGEST_SITE);
      mm.engine.peek(site, bytes);
      this.#states.set(`${site.toString(16)}: ${toHex(bytes)}`, { site, bytes });
    });
  }
}
