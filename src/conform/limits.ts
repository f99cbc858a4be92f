/** Which recorded runs an engine cannot be measured by. `docs/engines.md` has the engines' side of it. */

import { fromHex } from '../base/bytes.ts';
import { type EngineFactory, Prot } from '../cpu/engine.ts';
import { Scanner } from '../x86/decode.ts';
import { decodeInsn } from '../x86/insn.ts';
import type { ExecCase, ExecTable, Recorded } from './exec-table.ts';
import type { Unsupported } from './guest.ts';
import { knownWrong } from './known-wrong.ts';

/** Part of every x86-64 CPU, by iced-x86's names. */
const BASELINE =
  /^(INTEL\d+|X64|FPU\d*|CMOV|CPUID|CX8|FXSR|MMX|SSE2?|MULTIBYTENOP|PAUSE|SYSCALL|TSC)$/;

/** Says in words that can be counted why a run could not be made. */
export class EngineLimits {
  readonly #engine: EngineFactory;
  readonly #scanner = new Scanner();

  constructor(engine: EngineFactory) {
    this.#engine = engine;
  }

  /** @param bytes what lies at the address where the engine gave up */
  lacking({ unsupported, address }: Unsupported, bytes: Uint8Array): string {
    this.#scanner.open(bytes, address);
    this.#scanner.next();
    const { features, mnemonic } = this.#scanner.facts;
    const { extensions } = this.#engine.capabilities;
    const missing = features.filter((one) => !BASELINE.test(one) && !extensions.includes(one));
    return `no ${missing.join(' ') || mnemonic || unsupported}`;
  }

  /** Why what the engine made of the case must not be compared, or null. */
  wrong(test: ExecCase, got: Recorded, { regions }: ExecTable): string | null {
    const bytes = fromHex(test.bytes) ?? new Uint8Array(0);
    const insn = decodeInsn(bytes);
    if (insn === null) return null;
    this.#scanner.open(bytes, BigInt(test.site));
    this.#scanner.next();
    const { mnemonic } = this.#scanner.facts;
    return knownWrong({
      engine: this.#engine.name,
      insn,
      mnemonic,
      got,
      first: test.entry === test.site,
      writable: (at) =>
        regions.some(
          ({ address, size, prot }) =>
            (prot & Prot.Write) !== 0 && at >= address && at < address + BigInt(size),
        ),
    });
  }

  /** Why a recorded state cannot be told from ours, or null. */
  invisible(expected: Recorded, { vectors }: ExecTable): string | null {
    const upper = (values: readonly string[] | undefined): string[] | undefined =>
      values?.map((value) => value.slice(32));
    const before = upper(vectors.ymm) ?? [];
    const after = upper(expected.ymm) ?? before;
    if (after.some((value, n) => value !== (before[n] ?? '0'.repeat(32))))
      return 'upper vector halves cannot be seen';
    return (expected.k1 ?? vectors.k1) === vectors.k1 ? null : 'mask registers cannot be seen';
  }
}
