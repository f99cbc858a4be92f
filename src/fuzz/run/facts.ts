/** What must be known of a case's code before it runs. */
import { Scanner } from '../../x86/decode.ts';

export interface CodeFacts {
  /** It works on vector or x87 registers. */
  readonly vector: boolean;
  /** Where instructions begin when it is read from its first byte on, and their mnemonics. */
  readonly starts: ReadonlyMap<number, string>;
  /** It has an instruction that engines get wrong depending on what stands around it (docs/engines.md). */
  readonly unreliable: boolean;
  /** It has repeated string instructions. */
  readonly repeats: boolean;
}

const scanner = new Scanner();

/** Opcodes are not asked whether they take the prefix. */
const REPEAT: ReadonlySet<number> = new Set([0xf2, 0xf3, 0x66, 0x67]);
/** Flags after the first two; ip after a step over the third; what `in` and its like do in the middle of a block. */
const UNRELIABLE = /^(cmpxchg(8|16)b|loopn?e|pause|in|ins[bd]|out|outs[bd])$/;
const STRING = /^(movs|cmps|stos|lods|scas)[bwdq]$/;
const VECTOR_FEATURE = /SSE|AVX|MMX|FPU|FXSR|AES|XSAVE/;

export const factsOfCode = (code: Uint8Array): CodeFacts => {
  const starts = new Map<number, string>();
  let vector = false;
  let repeats = false;
  let unreliable = false;
  let offset = 0;
  scanner.open(code, 0n);
  while (scanner.next()) {
    starts.set(offset, scanner.facts.mnemonic);
    unreliable ||= UNRELIABLE.test(scanner.facts.mnemonic);
    repeats ||= STRING.test(scanner.facts.mnemonic) && REPEAT.has(code[offset] ?? 0);
    vector ||= scanner.facts.features.some((feature) => VECTOR_FEATURE.test(feature));
    offset += scanner.length;
  }
  return { vector, starts, repeats, unreliable };
};
