/** Opcode bytes, and the shape of what follows them. */
import { type Draft, peek, skip } from './insn.ts';
import {
  GROUPS,
  INVALID_IN_64_BIT,
  ONE_BYTE,
  type Shape,
  THREE_BYTE_3A,
  THREE_BYTE_38,
  TWO_BYTE,
} from './insn-maps.ts';
import { Prefix } from './insn-prefixes.ts';
import { vexShape, xopShape } from './insn-vex-maps.ts';

/** The number VEX.pp has for the last legacy prefix; other prefixes select nothing. */
const mandatoryPrefix = (draft: Draft): number => {
  switch (draft.lastPrefix) {
    case Prefix.OperandSize:
      return 1;
    case Prefix.Rep:
      return 2;
    case Prefix.Repne:
      return 3;
    default:
      return 0;
  }
};

const takeOpcode = (draft: Draft): number | null => {
  const byte = peek(draft);
  if (byte === undefined) return null;
  skip(draft, 1);
  draft.opcode.push(byte);
  return byte;
};

/** The shape itself, or through modrm.reg where the opcode is a group. */
const resolve = (draft: Draft, shape: Shape, group: string, opcode: number): Shape | null => {
  if (shape === '.') return null;
  if (shape !== 'g') return shape;
  const modrm = peek(draft);
  if (modrm === undefined) return null;
  const member = GROUPS[`${group}:${opcode.toString(16).padStart(2, '0')}`]?.[(modrm >> 3) & 7];
  return member === undefined || member === '.' ? null : member;
};

const readVectorOpcode = (draft: Draft): Shape | null => {
  const opcode = takeOpcode(draft);
  if (opcode === null) return null;
  const [, second = 0, third = 0] = draft.vectorBytes;
  const pp = third & 3;
  if (draft.vector === 'xop') {
    const map = second & 0x1f;
    return resolve(draft, xopShape(map, opcode), `x${map}`, opcode);
  }
  const evex = draft.vector === 'evex';
  const map = draft.vector === 'vex2' ? 1 : second & (evex ? 7 : 0x1f);
  // The scalable forms of EVEX map 4 take 16-bit operands from pp = 66, not from a legacy prefix.
  if (map === 4 && pp === 1 && draft.operandSize !== 8) draft.operandSize = 2;
  return resolve(draft, vexShape(map, pp, opcode, evex), `v${map}.${pp}`, opcode);
};

const shapeOfEscape = (draft: Draft, map: readonly Shape[], opcode: number): Shape =>
  map[mandatoryPrefix(draft)]?.[opcode] ?? '.';

const readTwoByte = (draft: Draft, opcode: number): Shape | null =>
  resolve(draft, shapeOfEscape(draft, TWO_BYTE, opcode), `0f.${mandatoryPrefix(draft)}`, opcode);

const REX2_MAP1 = 0x80;

/** REX2 names its map; neither escapes nor the 64-bit validity check apply. */
const readRex2Opcode = (draft: Draft): Shape | null => {
  const opcode = takeOpcode(draft);
  if (opcode === null) return null;
  if ((draft.rex[1] ?? 0) & REX2_MAP1) {
    // Opcodes that only EVEX may reach are not turned away here either; all of them have a modrm.
    return shapeOfEscape(draft, TWO_BYTE, opcode) === '.' ? 'm' : readTwoByte(draft, opcode);
  }
  return resolve(draft, ONE_BYTE[opcode] ?? '.', '1', opcode);
};

const readEscaped = (draft: Draft): Shape | null => {
  const second = takeOpcode(draft);
  if (second === null) return null;
  const deeper = second === 0x38 ? THREE_BYTE_38 : second === 0x3a ? THREE_BYTE_3A : null;
  if (deeper === null) return readTwoByte(draft, second);
  const third = takeOpcode(draft);
  if (third === null) return null;
  const shape = shapeOfEscape(draft, deeper, third);
  return shape === '.' ? null : shape;
};

/** Null where the kernel cannot decode. */
export const readOpcode = (draft: Draft): Shape | null => {
  if (draft.vector !== null) return readVectorOpcode(draft);
  if (draft.rex.length === 2) return readRex2Opcode(draft);
  const opcode = takeOpcode(draft);
  if (opcode === null) return null;
  if (opcode === 0x0f) return readEscaped(draft);
  if (INVALID_IN_64_BIT.has(opcode)) return '-';
  return resolve(draft, ONE_BYTE[opcode] ?? '.', '1', opcode);
};
