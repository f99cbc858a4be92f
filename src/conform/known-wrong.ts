/**
 * What the engines are known to get wrong without saying so (`docs/engines.md`). A recorded run of such
 * an instruction says nothing about probes, so it is counted as not run.
 */
import { SiCode, Sig } from '../abi/signals.ts';
import { type Insn, isRipRelative, modrmReg } from '../x86/insn.ts';
import type { Recorded } from './exec-table.ts';

/** A finished run of ours, and the instruction at the site. */
export interface Finished {
  readonly engine: string;
  readonly insn: Insn;
  readonly mnemonic: string;
  readonly got: Recorded;
  /** Nothing ran before the site: the x87 stack is empty there. */
  readonly first: boolean;
  /** A store to the address would not fault. */
  writable(address: bigint): boolean;
}

interface KnownWrong {
  readonly reason: string;
  applies(run: Finished): boolean;
}

const CANONICAL_END = 0x8000_0000_0000n;

/** An access that general protection refused. */
const isProtection = ({ signal }: Recorded): boolean =>
  signal?.signo === Sig.SIGSEGV && signal.code === SiCode.SI_KERNEL;

const opcodeIs = ({ opcode }: Insn, ...bytes: number[]): boolean =>
  bytes.every((byte, i) => opcode[i] === byte);

/** Far transfers, and loads of segment registers. */
const loadsSegment = (insn: Insn): boolean =>
  [0xca, 0xcb, 0xcf, 0x8e].some((byte) => opcodeIs(insn, byte)) ||
  [0xa1, 0xa9, 0xb2, 0xb4, 0xb5].some((byte) => opcodeIs(insn, 0x0f, byte)) ||
  (opcodeIs(insn, 0xff) && (modrmReg(insn) === 3 || modrmReg(insn) === 5));

/** Unicorn 1.0: every instruction of map 0F 3A; both: the double shifts. */
const movesOperand = (engine: string, insn: Insn): boolean =>
  opcodeIs(insn, 0x0f, 0xa4) ||
  opcodeIs(insn, 0x0f, 0xac) ||
  (engine === 'unicorn' && opcodeIs(insn, 0x0f, 0x3a));

const named =
  (pattern: RegExp) =>
  ({ mnemonic }: Finished): boolean =>
    pattern.test(mnemonic);

const ROWS: readonly KnownWrong[] = [
  { reason: 'lzcnt and tzcnt are bsr and bsf', applies: named(/^[lt]zcnt$/) },
  { reason: 'fxsave leaves bytes unwritten', applies: named(/^fxsave(64)?$/) },
  { reason: 'approximations are exact', applies: named(/^r(cp|sqrt)[ps]s$/) },
  {
    reason: 'x87 transcendental functions',
    applies: named(/^(fsin|fcos|fsincos|fptan|fpatan|f2xm1|fyl2x|fyl2xp1|fprem1?)$/),
  },
  {
    reason: 'a jump to a non-canonical address faults at its target',
    applies: ({ got }) => isProtection(got) && BigInt(got.signal?.ip ?? 0) >= CANONICAL_END,
  },
  {
    reason: 'general protection has no error code',
    applies: ({ insn, got }) => isProtection(got) && loadsSegment(insn),
  },
  {
    reason: 'an immediate behind a RIP-relative operand moves it',
    applies: ({ engine, insn }) =>
      isRipRelative(insn) && insn.immSize > 0 && movesOperand(engine, insn),
  },
  {
    reason: 'a faulting bit instruction reads first',
    applies: ({ mnemonic, got }) => /^bt[rsc]$/.test(mnemonic) && (got.signal?.err ?? 0) !== 0,
  },
  {
    reason: 'REX before lahf and sahf',
    applies: ({ insn, mnemonic }) => insn.rex.length > 0 && /^[ls]ahf$/.test(mnemonic),
  },
  {
    reason: 'ret takes its operand as signed',
    applies: ({ insn }) => opcodeIs(insn, 0xc2) && (insn.immediate & 0x8000) !== 0,
  },
  {
    reason: 'enter does not touch its new stack top',
    applies: ({ mnemonic, got, writable }) =>
      mnemonic === 'enter' && got.signal === undefined && !writable(BigInt(got.regs.sp ?? 0)),
  },
  {
    reason: 'an empty x87 stack is not noticed',
    applies: ({ mnemonic, first }) =>
      first && /^f(?!ld|[ib]ld|n|nop|clex|init|free|incstp|decstp|xam|wait)/.test(mnemonic),
  },
  {
    reason: 'bswap of 16 bits is undefined',
    applies: ({ insn, mnemonic }) => mnemonic === 'bswap' && insn.operandSize === 2,
  },
];

/** Why the run cannot be compared, or null. All of it is about the two builds of Unicorn. */
export const knownWrong = (run: Finished): string | null =>
  run.engine.startsWith('unicorn') ? (ROWS.find((row) => row.applies(run))?.reason ?? null) : null;
