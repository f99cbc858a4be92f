/** All instruction forms of 64-bit mode as iced-x86 knows them: what operands each opcode can have. */
import {
  Code,
  CpuidFeature,
  EncodingKind,
  Instruction,
  MemorySizeExt,
  Mnemonic,
  OpCodeOperandKind,
} from 'iced-x86';

export type RegisterFileName = 'gpr' | 'xmm' | 'ymm' | 'mm' | 'st' | 'segment';

/** One operand of a form: where it may be, and its size in bits in either place (0 where there is none). */
export interface OperandForm {
  readonly register: RegisterFileName | null;
  readonly memory: boolean;
  readonly immediate: boolean;
  /** Of the register or the immediate. */
  readonly bits: number;
  readonly memoryBits: number;
}

export interface Form {
  /** iced-x86's number of the opcode. */
  readonly code: number;
  /** Its name, such as `Add_rm32_r32`. */
  readonly name: string;
  readonly mnemonic: string;
  readonly operands: readonly OperandForm[];
  readonly vex: boolean;
  /** CPUID features it needs, by iced-x86's names. */
  readonly features: readonly string[];
}

const NAMED: Readonly<Record<string, readonly [RegisterFileName, number]>> = {
  al: ['gpr', 8],
  cl: ['gpr', 8],
  ax: ['gpr', 16],
  dx: ['gpr', 16],
  eax: ['gpr', 32],
  rax: ['gpr', 64],
  st0: ['st', 80],
  sti_opcode: ['st', 80],
  seg_reg: ['segment', 16],
  fs: ['segment', 16],
  gs: ['segment', 16],
};

const FILES: Readonly<Record<string, readonly [RegisterFileName, number]>> = {
  xmm: ['xmm', 128],
  ymm: ['ymm', 256],
  mm: ['mm', 64],
};

const NO_REGISTER = { register: null, bits: 0 } as const;

const registerOf = (kind: string): Pick<OperandForm, 'register' | 'bits'> => {
  const named = NAMED[kind];
  if (named !== undefined) return { register: named[0], bits: named[1] };
  const general = /^r(8|16|32|64)_/.exec(kind);
  if (general !== null) return { register: 'gpr', bits: Number(general[1]) };
  const file = FILES[/^(xmm|ymm|mm)_/.exec(kind)?.[1] ?? ''];
  return file === undefined ? NO_REGISTER : { register: file[0], bits: file[1] };
};

/** `imm8sex32` is an immediate of 32 bits. */
const immediateBits = (kind: string): number => {
  const found = /^imm(\d+)(?:sex(\d+))?/.exec(kind);
  return found === null ? 0 : Number(found[2] ?? found[1]);
};

const operandOf = (kind: string, memoryBits: number): OperandForm => {
  const memory = /mem|seg_rBX/.test(kind) && !/_reg_mem$/.test(kind);
  const bits = immediateBits(kind);
  const common = { memory, memoryBits: memory ? memoryBits : 0 };
  if (bits > 0) return { ...NO_REGISTER, ...common, immediate: true, bits };
  return { ...registerOf(kind), ...common, immediate: false };
};

const ENCODINGS: ReadonlySet<number> = new Set([EncodingKind.Legacy, EncodingKind.VEX]);

const formOf = (instruction: Instruction, code: number, name: string): Form | undefined => {
  instruction.code = code;
  const info = instruction.opCode;
  try {
    if (!info.mode64 || !info.isInstruction || !ENCODINGS.has(info.encoding)) return undefined;
    const memoryBits = 8 * MemorySizeExt.size(info.memorySize);
    const operands = Array.from({ length: info.opCount }, (_, i) =>
      operandOf(OpCodeOperandKind[info.opKind(i)] ?? '', memoryBits),
    );
    const features = [...instruction.cpuidFeatures()].map((id) => CpuidFeature[id] ?? '');
    const mnemonic = Mnemonic[info.mnemonic] ?? '';
    return { code, name, mnemonic, operands, vex: info.encoding === EncodingKind.VEX, features };
  } finally {
    info.free();
  }
};

/** Every legacy and VEX form, in iced-x86's order. */
export const instructionForms = (): Form[] => {
  const instruction = new Instruction();
  const forms: Form[] = [];
  for (const [name, code] of Object.entries(Code)) {
    if (typeof code !== 'number') continue;
    const form = formOf(instruction, code, name);
    if (form !== undefined) forms.push(form);
  }
  instruction.free();
  return forms;
};
