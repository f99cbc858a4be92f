/**
 * Which bytes follow an opcode, as Linux decodes it (SDM vol. 2, appendix A; where the kernel's own
 * tables differ from the manual, the kernel's answer stands: asked of 6.18.44 by placing every
 * opcode so that it just fits, and just does not fit, into the 15 bytes the kernel looks at).
 *
 * One letter an opcode:
 *
 * | letter | follows | letter | follows |
 * |---|---|---|---|
 * | `-` | nothing (also every opcode the tables do not know) | `z` | imm16/32 by operand size |
 * | `m` | modrm | `v` | imm16/32/64 by operand size |
 * | `b` | modrm, imm8 | `l` | rel32, whatever the operand size |
 * | `d` | modrm, imm16/32 by operand size | `o` | offset of address size |
 * | `q` | modrm, imm32 | `p` | far pointer |
 * | `i` | imm8 | `e` | imm16, imm8 |
 * | `w` | imm16 | `g` | modrm, and modrm.reg decides: {@link GROUPS} |
 * | `.` | cannot be decoded | | |
 */
export type Shape = string;

/** Rows of 16 opcodes; the columns after the row's number are the mandatory-prefix variants. */
const parseRows = (rows: string, columns: number): readonly Shape[] => {
  const maps = Array.from({ length: columns }, () => '');
  for (const line of rows.trim().split('\n')) {
    const [, ...cells] = line.trim().split(' ');
    for (let i = 0; i < columns; i++) maps[i] += cells[i] ?? '';
  }
  return maps;
};

const [oneByte = ''] = parseRows(
  `
  0 mmmmiz--mmmmiz--
  1 mmmmiz--mmmmiz--
  2 mmmmiz--mmmmiz--
  3 mmmmiz--mmmmiz--
  4 ----------------
  5 ----------------
  6 --mm----zdib----
  7 iiiiiiiiiiiiiiii
  8 bdbbmmmmmmmmmmmm
  9 ----------p-----
  a oooo----iz------
  b iiiiiiiivvvvvvvv
  c bbw-mmbde-w--i--
  d mmmmii--mmmmmmmm
  e iiiiiiiillpi----
  f ------gg------mm`,
  1,
);

/** The one-byte map. Prefix bytes stand here as `-`: that is how they decode where an opcode must be. */
export const ONE_BYTE: Shape = oneByte;

/**
 * Opcodes of the one-byte map that 64-bit mode lacks: they decode as one byte with nothing after it.
 * (62, 82, 9A … behind a REX2 prefix keep their operands, since that path skips the check.)
 */
export const INVALID_IN_64_BIT: ReadonlySet<number> = new Set([
  0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce,
  0xd4, 0xd6, 0xea,
]);

/** Columns: no mandatory prefix, 66, F3, F2 (index = the prefix id of VEX.pp). */
export const TWO_BYTE: readonly Shape[] = parseRows(
  `
  0 mmmm---------m-b mmmm---------m-b mmmm---------m-b mmmm---------m-b
  1 mmmmmmmmm-mmm-mm mmmmmmmmm-mmm-mm mmm---m-m-mmm-mm mmm-----m-mmm-mm
  2 mmmm----mmmmmmmm mmmm----mmmmmmmm mmmm------m-mm-- mmmm------m-mm--
  3 ---------------- ---------------- ---------------- ----------------
  4 mmmmmmmmmmmmmmmm mmmmmmmmmmmmmmmm m--m----mm--mmmm m--m----mm--mmmm
  5 mmmmmmmmmmmmmmmm mm--mmmmmmmmmmmm -mmm----mmmmmmmm -m------mmm-mmmm
  6 mmmmmmmmmmmm--mm mmmmmmmmmmmmmmmm ---------------m ---------------.
  7 bgggmmm-mm----mm bgggmmm-....mmmm bmmm----....--mm bmmm----....mm-.
  8 llllllllllllllll llllllllllllllll llllllllllllllll llllllllllllllll
  9 mmmmmmmmmmmmmmmm mmmmmmmmmmmmmmmm ----mmmm--mmmmmm --mmmmmm--mmmmmm
  a ---mbmmm---mbmmm ---mbmmm---mbmmm ---mbmmm---mbmmm ---mbmmm---mbmmm
  b mmmmmmmm-mbmmmmm mmmmmmmm-mbmmmmm mmmmmmmmmmbmmmmm mmmmmmmm-mbmmmmm
  c mmbmbbbm-------- mmbmbbbm-------- mmbm---m-------- mmbm---m--------
  d -mmmmm-mmmmmmmmm mmmmmmmmmmmmmmmm ------m--------- m-----m---------
  e mmmmmm-mmmmmmmmm mmmmmmmmmmmmmmmm ------m--------- ------m---------
  f -mmmmmmmmmmmmmm- -mmmmmmmmmmmmmm- ---------------- m---------------`,
  4,
);

/** Map 0F 38; a `.` is an opcode that exists with VEX or EVEX only. */
export const THREE_BYTE_38: readonly Shape[] = parseRows(
  `
  0 mmmmmmmmmmmm---- mmmmmmmmmmmm.... ---------------- ----------------
  1 ------------mmm- m...mm.m....mmm. ......---------- ----------------
  2 ---------------- mmmmmm..mmmm.... ...........----- ----------------
  3 ---------------- mmmmmm.mmmmmmmmm ......--...----- ----------------
  4 ---------m------ mm......-m-m.... -----------.---- ---------m-m----
  5 ..------------m- mmmm..--....--m- ...---------m-m- ....--------m-m-
  6 ------------m--- --.....-----m--- ---------------- --------.-------
  7 ---------------- ....-........... --m------------- --.-------------
  8 ---------------- mmm.----........ ---------------- ----------------
  9 ---------------- ....--.......... ---------------- ----------..----
  a ---------------- ....--.......... ---------------- ----------..----
  b .--------------- ..--mm.......... ..-------------- .---------------
  c ------mmmmmmmm-- ----.-mm.m....-m ------mm-m------ ------mm-m-...--
  d --..------m----- --..------mmmmmm --..----m-.-mmmm ----------.-----
  e ---------------- mmmmmmmmmmmmmmmm ---------------- ----------------
  f mm.m-.m.-m--m--- mm.m-mm.mm--m--- --.m-.m.mmmmm--- mm.m-...mm--m---`,
  4,
);

/** Map 0F 3A. */
export const THREE_BYTE_3A: readonly Shape[] = parseRows(
  `
  0 --------b-b----b .......-bbbbbbbb ---------------- ----------------
  1 ---------------- ----bbbb....-... ---------------- ----------------
  2 ------..-------- bbb.-...-------- ---------------- ----------------
  3 ---------------- ....----....--.. ---------------- ----------------
  4 ---------------- bbb.b-.---..b--- ---------------- ----------------
  5 ------..-------- ..--....-------- ---------------- ----------------
  6 ------..-------- bbbb--..-------- ---------------- ----------------
  7 ---------------- ....------------ ---------------- ----------------
  8 ---------------- ---------------- ---------------- ----------------
  9 ---------------- ---------------- ---------------- ----------------
  a ---------------- ---------------- ---------------- ----------------
  b ---------------- ---------------- ---------------- ----------------
  c --.---------b--- ------------b-bb --.---------b--- ------------b---
  d ---------------- --------------bb ---------------- ----------------
  e ---------------- ---------------- ---------------- ----------------
  f ---------------- ---------------- b--------------- .---------------`,
  4,
);

/**
 * Opcodes whose shape depends on modrm.reg (string index). Key: map (`1`, `0f`, or `vMAP` for
 * VEX/EVEX and `xMAP` for XOP), mandatory-prefix id where it matters, opcode.
 */
export const GROUPS: Readonly<Record<string, Shape>> = {
  '1:f6': 'bbmmmmmm',
  '1:f7': 'ddmmmmmm',
  '0f.0:71': 'mmbmbmbm',
  '0f.0:72': 'mmbmbmbm',
  '0f.0:73': 'mmbmmmbm',
  '0f.1:71': 'mmbmbmbm',
  '0f.1:72': 'bbbmbmbm',
  '0f.1:73': 'mmbbmmbb',
  'v1.0:ae': '..mm....',
  'v1.1:71': '..b.b.b.',
  'v1.1:72': 'bbb.b.b.',
  'v1.1:73': '..bb..bb',
  'v2.1:c6': '.mm..mm.',
  'v2.1:c7': '.mm..mm.',
  'v2.0:f3': '.mmm....',
  'v2.1:f3': '.mmm....',
  'v2.2:f3': '.mmm....',
  'v2.3:f3': '.mmm....',
  'v4.0:f6': 'bbmmmmmm',
  'v4.0:f7': 'ddmmmmmm',
  'v4.1:f6': 'bbmmmmmm',
  'v4.1:f7': 'ddmmmmmm',
  'v4.2:f6': 'bbmmmmmm',
  'v4.2:f7': 'ddmmmmmm',
  'v4.3:f6': 'bbmmmmmm',
  'v4.3:f7': 'ddmmmmmm',
  'x10:12': 'qqmmmmmm',
};
