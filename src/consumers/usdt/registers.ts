/** The register names of USDT arguments: AT&T names of every width. */
import { Reg } from '../../cpu/engine.ts';

/** A general register, or the half of one, or a vector register. */
export interface UsdtRegister {
  readonly name: string;
  /** Index in the register file; of the 16 vector registers for `vector`. */
  readonly index: number;
  /** `high`: bits 8 to 15, as in `%ah`. */
  readonly part: 'general' | 'high' | 'vector';
}

/** Names by width: 64, 32, 16 and 8 bits. */
const LEGACY: readonly (readonly [Reg, ...string[]])[] = [
  [Reg.Rax, 'rax', 'eax', 'ax', 'al'],
  [Reg.Rbx, 'rbx', 'ebx', 'bx', 'bl'],
  [Reg.Rcx, 'rcx', 'ecx', 'cx', 'cl'],
  [Reg.Rdx, 'rdx', 'edx', 'dx', 'dl'],
  [Reg.Rsi, 'rsi', 'esi', 'si', 'sil'],
  [Reg.Rdi, 'rdi', 'edi', 'di', 'dil'],
  [Reg.Rbp, 'rbp', 'ebp', 'bp', 'bpl'],
  [Reg.Rsp, 'rsp', 'esp', 'sp', 'spl'],
  [Reg.Rip, 'rip', 'eip'],
];

const HIGH: readonly (readonly [Reg, string])[] = [
  [Reg.Rax, 'ah'],
  [Reg.Rbx, 'bh'],
  [Reg.Rcx, 'ch'],
  [Reg.Rdx, 'dh'],
];

const numbered = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

const ALL: readonly UsdtRegister[] = [
  ...LEGACY.flatMap(([index, ...names]) =>
    names.map((name): UsdtRegister => ({ name, index, part: 'general' })),
  ),
  ...numbered(8, 15).flatMap((index) =>
    ['', 'd', 'w', 'b'].map(
      (suffix): UsdtRegister => ({ name: `r${index}${suffix}`, index, part: 'general' }),
    ),
  ),
  ...HIGH.map(([index, name]): UsdtRegister => ({ name, index, part: 'high' })),
  ...numbered(0, 15).map((index): UsdtRegister => ({ name: `xmm${index}`, index, part: 'vector' })),
];

const BY_NAME: ReadonlyMap<string, UsdtRegister> = new Map(ALL.map((one) => [one.name, one]));

export const usdtRegister = (name: string): UsdtRegister | undefined => BY_NAME.get(name);
