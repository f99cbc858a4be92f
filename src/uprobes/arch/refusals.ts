/** The rules that refuse an instruction, in the kernel's order (spec sections 2.4 and 2.5). */
import { type Insn, modrmReg } from '../../x86/insn.ts';
import { Prefix } from '../../x86/insn-prefixes.ts';

const PREFIX_NAMES: ReadonlyMap<number, string> = new Map([
  [Prefix.Es, 'es'],
  [Prefix.Cs, 'cs'],
  [Prefix.Ss, 'ss'],
  [Prefix.Ds, 'ds'],
  [Prefix.Lock, 'lock'],
]);

/**
 * First opcode bytes that are refused in 64-bit mode, by what they are in the one-byte map. A vector
 * prefix does not matter: the byte behind it is looked up in this same table.
 */
const REFUSED_OPCODES: readonly { readonly what: string; readonly opcodes: readonly number[] }[] = [
  {
    what: 'does not exist in 64-bit mode',
    opcodes: [
      0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62, 0x82,
      0x9a, 0xd4, 0xd5, 0xd6, 0xea,
    ],
  },
  { what: 'reads or writes an I/O port', opcodes: [0x6c, 0x6d, 0x6e, 0x6f] },
  { what: 'reads or writes an I/O port', opcodes: [0xe4, 0xe5, 0xe6, 0xe7] },
  { what: 'reads or writes an I/O port', opcodes: [0xec, 0xed, 0xee, 0xef] },
  { what: 'is a software interrupt or returns from one', opcodes: [0xcc, 0xcd, 0xce, 0xcf, 0xf1] },
  { what: 'is privileged', opcodes: [0xf4, 0xfa, 0xfb] },
];

const WHY: ReadonlyMap<number, string> = new Map(
  REFUSED_OPCODES.flatMap(({ what, opcodes }) => opcodes.map((opcode) => [opcode, what] as const)),
);

const byteText = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;

/** A prefix that uprobes never accept. */
export const isRefusedPrefix = (byte: number): boolean => PREFIX_NAMES.has(byte);

const refusedPrefix = (insn: Insn): string | null => {
  const prefix = insn.prefixes.find(isRefusedPrefix);
  return prefix === undefined
    ? null
    : `${byteText(prefix)} (${PREFIX_NAMES.get(prefix)}) prefix is refused`;
};

/** `mov %ss` delays the trap that ends a step by one instruction. */
const masksExceptions = (insn: Insn): string | null =>
  insn.opcode[0] === 0x8e && modrmReg(insn) === 2
    ? 'opcode 0x8e /2 (mov to ss) holds back the trap that ends a step'
    : null;

const refusedOpcode = (insn: Insn): string | null => {
  const [opcode = 0] = insn.opcode;
  const what = WHY.get(opcode);
  if (what === undefined) return null;
  return insn.vector === null
    ? `opcode ${byteText(opcode)} ${what}`
    : `opcode byte ${byteText(opcode)} behind ${insn.vector.toUpperCase()} is looked up in the one-byte table, where it ${what}`;
};

/** The reason why the instruction is refused (ENOTSUPP), or null. */
export const refusalReason = (insn: Insn): string | null =>
  refusedPrefix(insn) ?? masksExceptions(insn) ?? refusedOpcode(insn);
