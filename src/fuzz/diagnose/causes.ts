/** Why a shrunk case differs: each row tries variants of the case, and speaks when they confirm it. */
import { Sig } from '../../abi/signals.ts';
import { Flag } from '../../abi/traps.ts';
import { PAGE_SIZE, toHex } from '../../base/bytes.ts';
import { type FuzzCase, returns } from '../case.ts';
import { TEXT, usualRegisters } from '../guest/layout.ts';
import { SP } from '../guest/outcome.ts';
import type { Verdict } from '../run/verdict.ts';
import { type Context, withBytes, withSite } from './context.ts';
import { type Line, relink } from './listing.ts';

/** The words of `trapline fuzz --json`. */
export type Cause =
  | 'red-zone-clobber'
  | 'lost-exchange'
  | 'vex-as-branch'
  | 'tf-leak'
  | 'syscall-clobber'
  | 'mid-instruction'
  | 'prefix-before-site'
  | 'stack-fault-at-site'
  | 'other';

export interface Diagnosis {
  readonly cause: Cause;
  /** A sentence, the same for all findings of one kind. */
  readonly title: string;
}

interface Row {
  readonly cause: Cause;
  /** The sentence, or null when it is something else. */
  readonly explains: (context: Context) => string | null;
}

const PREFIXES = new Set([0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3]);
const isPrefix = (byte: number): boolean => PREFIXES.has(byte) || byte >> 4 === 4;

const bytesBefore = ({ line, site }: Context): Uint8Array =>
  line.bytes.subarray(0, site - line.offset);

/** The difference goes, or the probe is refused, when it stands at the instruction's start. */
const startIsHarmless = ({ test, site, line, run }: Context): boolean => {
  const { kind } = run(withSite(test, site, line.offset));
  return kind === 'same' || kind === 'skipped';
};

const prefixBeforeSite = (context: Context): string | null => {
  const before = bytesBefore(context);
  if (before.length === 0 || !before.every(isPrefix) || !startIsHarmless(context)) return null;
  return context.explanation.optimisable
    ? 'a prefix stands before the probed byte, and applies to the call that the site becomes'
    : 'a prefix stands before the probed byte, and applies to the int3: what follows is probed without it';
};

const midInstruction = (context: Context): string | null => {
  if (bytesBefore(context).length === 0) return null;
  return 'the probe lies inside an instruction: its breakpoint changes the operand or the opcode of what runs';
};

const isOpcode = ({ insn, site, line }: Context, ...opcode: number[]): boolean =>
  site === line.offset &&
  insn.vector === null &&
  opcode.every((byte, i) => insn.opcode[i] === byte) &&
  insn.opcode.length === opcode.length;

const syscallClobber = (context: Context): string | null =>
  isOpcode(context, 0x0f, 0x05)
    ? 'a probed syscall runs in a slot: cx holds the slot’s address behind it, and r11 has TF'
    : null;

const nopsFor = (length: number): number[] => Array<number>(length).fill(0x90);

/** Without the instruction there is no difference left. */
const needsInstruction = ({ test, site, insn, run }: Context): boolean =>
  run(withBytes(test, site, nopsFor(insn.length))).kind === 'same';

/** TF is what some value has too much. */
const showsTf = ({ verdict }: Context): boolean =>
  verdict.differences.some(
    ({ expected, got }) =>
      /^0x/.test(expected) && /^0x/.test(got) && (BigInt(expected) ^ BigInt(got)) === Flag.TF,
  );

const tfLeak = (context: Context): string | null =>
  isOpcode(context, 0x9c) && (showsTf(context) || needsInstruction(context))
    ? 'a probed pushf runs in a slot with TF set, and pushes it'
    : null;

const vexAsBranch = ({ insn, explanation }: Context): string | null =>
  insn.vector !== null && explanation.verdict === 'emulate'
    ? `${insn.vector.toUpperCase()} opcode byte ${toHex(Uint8Array.from(insn.opcode))} is looked up as if nothing stood before it: the instruction is taken for a jump, call, push or nop and does not run`
    : null;

/** D5 is REX2 to the kernel's decoder, and to this CPU nothing. */
const rex2 = ({ insn, explanation, line }: Context): string | null =>
  insn.rex.length === 2 && explanation.verdict === 'emulate' && line.mnemonic === '(bad)'
    ? 'd5 is read as REX2, which the CPU need not have: what should be an invalid opcode is emulated'
    : null;

const lostExchange = (context: Context): string | null => {
  const { insn } = context;
  const exchanges = isOpcode(context, 0x90) && ((insn.rex.at(-1) ?? 0) & 1) === 1;
  return exchanges && context.explanation.verdict === 'emulate' && needsInstruction(context)
    ? 'opcode 90 with REX.B exchanges r8 and ax, but counts as a nop: the exchange is lost'
    : null;
};

/** The same case on a kernel that leaves sites alone. */
const unoptimised = (test: FuzzCase): FuzzCase => ({ ...test, profile: 'k6.16' });

const isOptimised = ({ explanation, test, run }: Context): boolean => {
  if (!explanation.optimisable) return false;
  const { kind } = run(unoptimised(test));
  return kind === 'same' || kind === 'skipped';
};

const stackFaultAtSite = (context: Context): string | null => {
  const { signal } = context.verdict.probed;
  if (signal === null || (signal.signal !== Sig.SIGSEGV && signal.signal !== Sig.SIGBUS))
    return null;
  const sp = context.verdict.probed.regs[SP] ?? 0n;
  const touchesStack = signal.address <= sp + 8n && signal.address + 0x100n > sp;
  return touchesStack && isOptimised(context)
    ? 'the call that replaces the nop pushes, and faults where the stack cannot be written; the nop needs no stack'
    : null;
};

const readsBelowSp = ({ text }: Line): boolean => /\[rsp-/.test(text);

/** What the call and its trampoline push: an address in the text, cx, r11, ax. */
const showsPushed = (verdict: Verdict): boolean => {
  if (verdict.kind !== 'different') return false;
  const pushed = new Set([...usualRegisters(), ...verdict.reference.regs]);
  return verdict.differences.some(({ got }) => {
    const value = /^0x/.test(got) ? BigInt(got) : 0n;
    return pushed.has(value) || (value >= TEXT.start && value < TEXT.start + 0x2000n);
  });
};

/** The site, and the loads from below sp, without what is computed from them. */
const onlyLoads = ({ test, lines, site }: Context): FuzzCase | null => {
  const kept = lines.filter((line) => line.offset === site || readsBelowSp(line));
  const relinked = relink(kept, test.code.length / 2);
  if (relinked === null) return null;
  return { ...withSite(test, site, relinked.moved(site)), code: toHex(relinked.code) };
};

const redZoneClobber = (context: Context): string | null => {
  const { lines, verdict, run } = context;
  if (!lines.some(readsBelowSp) || !isOptimised(context)) return null;
  const bare = showsPushed(verdict) ? null : onlyLoads(context);
  return showsPushed(verdict) || (bare !== null && showsPushed(run(bare)))
    ? 'the call that replaces the nop stores into the red zone below sp, where the function keeps data'
    : null;
};

const returnStackFault = ({ verdict, test }: Context): string | null => {
  const { signal, regs } = verdict.probed;
  if (signal === null || test.profile === 'k6.10') return null;
  const sp = regs[SP] ?? 0n;
  const pushes = signal.address < sp && signal.address + 0x10n > sp;
  return pushes && signal.ip >= UPROBES_FROM
    ? 'the return trampoline pushes, and faults where the stack cannot be written below the frame'
    : null;
};

/** A return to where nobody can go. */
const badReturn = ({ verdict, test }: Context): string | null => {
  const { signal } = verdict.probed;
  return returns(test) &&
    signal !== null &&
    signal.ip >= UPROBES_FROM &&
    signal.ip % PAGE_SIZE === RET_AT
    ? 'a return to an address where nobody can go faults in the return trampoline, not at the function’s ret'
    : null;
};
/** Where the return trampoline's `ret` is. */
const RET_AT = 0x10n;
/** Nothing else lies so high. */
const UPROBES_FROM = 0x7f0000000000n;

/** `int $3`, the long form of the breakpoint. */
const hasLongInt3 = ({ lines }: Context): boolean =>
  lines.some(({ bytes }) => bytes[0] === 0xcd && bytes[1] === 0x03);

const longInt3 = (context: Context): string | null =>
  hasLongInt3(context)
    ? 'cd 03 in a process with probes is taken for a probe that has gone: the program goes on at its second byte'
    : null;

/** What lies below sp after a call belongs to the function that has returned. */
const readsDeadFrame = (context: Context): string | null => {
  const { test, lines, run } = context;
  return returns(test) &&
    lines.some(readsBelowSp) &&
    run({ ...test, profile: 'k6.10' }).kind === 'same'
    ? 'the return trampoline pushes where the frame of the function that has returned was, and the caller reads there'
    : null;
};

/** Nobody calls the place of a return probe. */
const insideFunction = ({ test, site, lines }: Context): string | null => {
  const called = lines.some(
    ({ mnemonic, relative }) =>
      mnemonic === 'call' && (relative === null || relative.target === site),
  );
  return returns(test) && site > 0 && !called
    ? 'a return probe inside a function takes whatever sp points at for the return address'
    : null;
};

const usesReturnAddress = ({ test, lines }: Context): string | null =>
  returns(test) && lines.some(({ text }) => /^pop|\[rsp\]|\[rsp\+/.test(text))
    ? 'the function works with its return address, and finds that of the return trampoline'
    : null;

const ROWS: readonly Row[] = [
  { cause: 'prefix-before-site', explains: prefixBeforeSite },
  { cause: 'mid-instruction', explains: midInstruction },
  { cause: 'syscall-clobber', explains: syscallClobber },
  { cause: 'tf-leak', explains: tfLeak },
  { cause: 'vex-as-branch', explains: vexAsBranch },
  { cause: 'other', explains: rex2 },
  { cause: 'lost-exchange', explains: lostExchange },
  { cause: 'stack-fault-at-site', explains: stackFaultAtSite },
  { cause: 'red-zone-clobber', explains: redZoneClobber },
  { cause: 'stack-fault-at-site', explains: returnStackFault },
  { cause: 'other', explains: badReturn },
  { cause: 'other', explains: longInt3 },
  { cause: 'other', explains: readsDeadFrame },
  { cause: 'other', explains: insideFunction },
  { cause: 'other', explains: usesReturnAddress },
];

const how = ({ explanation, test }: Context): string => {
  if (returns(test)) return 'with a return probe';
  if (explanation.optimisable) return 'turned into a call';
  return explanation.verdict === 'emulate' ? 'emulated' : 'stepped';
};

/** What differs first, in words that do not depend on values. */
const what = ({ verdict }: Context): string => {
  const [first] = verdict.differences;
  const name = first?.what ?? '';
  if (showsTfAtEnd(verdict.differences)) return 'TF stays set';
  if (/^hit /.test(name)) return 'handlers run in another order or number';
  if (/ at hit /.test(name)) return `a handler sees another ${name.replace(/ at hit.*/, '')}`;
  if (name === 'end') return `the function ends otherwise (${first?.got.replace(/ at .*/, '')})`;
  if (/^memory/.test(name)) return 'memory differs';
  if (name === 'file') return 'a reader of the file sees the breakpoint';
  return `${name} differs`;
};

const showsTfAtEnd = (differences: Context['verdict']['differences']): boolean =>
  differences.some(
    ({ what: name, expected, got }) =>
      name === 'flags' &&
      (BigInt(expected) ^ BigInt(got)) === Flag.TF &&
      BigInt(got) > BigInt(expected),
  );

const moment = ({ verdict }: Context): string => {
  if (/text at/.test(verdict.when)) return ' while its text is being changed';
  if (/after the last/.test(verdict.when)) return ' after the probe has gone';
  return /far/.test(verdict.when) ? ' in a mapping far from the first trampoline' : '';
};

/** @param contexts of each probe of one case */
export const diagnose = (contexts: readonly [Context, ...Context[]]): Diagnosis => {
  for (const { cause, explains } of ROWS)
    for (const context of contexts) {
      const title = explains(context);
      if (title !== null) return { cause, title };
    }
  const [context] = contexts;
  const title = `\`${context.line.mnemonic}\` at the site, ${how(context)}: ${what(context)}${moment(context)}`;
  return { cause: 'other', title };
};
