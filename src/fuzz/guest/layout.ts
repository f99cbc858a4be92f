/** Where a case's things lie. Low addresses, so that a real process can be given the same ones. */
import { u64, view } from '../../base/bytes.ts';
import { Reg, type Reg as RegIndex } from '../../cpu/engine.ts';
import { REGISTER_NAMES, type RegisterName } from '../case.ts';
import { Random } from '../random.ts';

export const PAGE = 4096;
/** The text file, mapped from its start. */
export const TEXT = { start: 0x400000n, pages: 2 } as const;
/**
 * A second mapping of the text. The first one's trampoline comes to lie behind it, at 0x402000: calls that end in
 * the second page here miss it by up to a page.
 */
export const FAR_TEXT = { start: 0x402000n + (1n << 31n) - 0x1000n, pages: 2 } as const;
/** Pages that the function reads and writes; compared after every call. */
export const DATA = { start: 0x410000n, pages: 1 } as const;
export const STACK = { start: 0x430000n, pages: 2 } as const;
/** Stack of the signal handlers. */
export const SIGNAL_STACK = { start: 0x450000n, pages: 4 } as const;
/** Breakpoints of the runner, and a signal handler that returns. */
export const CAPS = { start: 0x460000n, pages: 1 } as const;
/** The function returns here. */
export const END = CAPS.start;
/** Signals that end a call go here. */
export const CAUGHT = CAPS.start + 0x10n;
/** A handler that returns at once, and its restorer: `ret`; `mov $15,%eax; syscall`. */
export const RETURNING = CAPS.start + 0x20n;
export const RESTORER = CAPS.start + 0x30n;

/** sp when the function is called: its return address lies there. */
export const CALL_SP = STACK.start + BigInt(STACK.pages * PAGE) - 0x400n;

export const REGISTERS: Readonly<Record<RegisterName, RegIndex>> = {
  ax: Reg.Rax,
  cx: Reg.Rcx,
  dx: Reg.Rdx,
  bx: Reg.Rbx,
  sp: Reg.Rsp,
  bp: Reg.Rbp,
  si: Reg.Rsi,
  di: Reg.Rdi,
  r8: Reg.R8,
  r9: Reg.R9,
  r10: Reg.R10,
  r11: Reg.R11,
  r12: Reg.R12,
  r13: Reg.R13,
  r14: Reg.R14,
  r15: Reg.R15,
};

/** Pointers into the data, and values that are easy to tell apart. */
const USUAL: readonly bigint[] = REGISTER_NAMES.map((name, index) => {
  const pointers: Partial<Record<RegisterName, bigint>> = {
    bx: DATA.start + 0x400n,
    sp: CALL_SP,
    bp: DATA.start + 0x800n,
    si: DATA.start + 0x100n,
    di: DATA.start + 0x200n,
  };
  return pointers[name] ?? u64(0x1111_1111_1111_1111n * BigInt(index + 1));
});

/** By hardware number. */
export const usualRegisters = (): BigUint64Array => BigUint64Array.from(USUAL);

/** CF, PF, IF and the bit that is always set. */
export const USUAL_FLAGS = 0x207n;

const patterns = new Map<number, Uint8Array>();
const KEPT = 64;

/** Contents of data and stack before each call. */
export const memoryOf = (seed: number): Uint8Array => {
  const known = patterns.get(seed);
  if (known !== undefined) return known;
  const bytes = new Uint8Array((DATA.pages + STACK.pages) * PAGE);
  const random = new Random(seed, 7);
  const words = view(bytes);
  for (let at = 0; at < bytes.length; at += 4) words.setUint32(at, random.word(), true);
  const returnTo = DATA.pages * PAGE + Number(CALL_SP - STACK.start);
  words.setBigUint64(returnTo, END, true);
  if (patterns.size >= KEPT) patterns.clear();
  patterns.set(seed, bytes);
  return bytes;
};
