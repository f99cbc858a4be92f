/** Wrong judgements: the analysis says something false, everything behind it is right. */
import { Reg } from '../../cpu/engine.ts';
import { decodeInsn, type Insn, modrmOffset, modrmReg, rexOffset } from '../../x86/insn.ts';
import type { Accepted, IpFixup, Stepping } from '../arch/analysis.ts';
import type { Fault, Faults } from './fault.ts';

type Misjudge = (analysis: Accepted, insn: Insn, file: Uint8Array) => Accepted;

/** Changes what is found out about an accepted instruction; `file` are its bytes as they stand. */
const misjudging = (about: string, misjudge: Misjudge): Fault => ({
  about,
  plant: ({ analyse }) => ({
    analyse(file, profile, options) {
      const analysis = analyse(file, profile, options);
      const insn = decodeInsn(file);
      return analysis.verdict === 'refuse' || insn === null
        ? analysis
        : misjudge(analysis, insn, file);
    },
  }),
});

const withStepping = (analysis: Accepted, stepping: Partial<Stepping>): Accepted => ({
  ...analysis,
  stepping: { ...analysis.stepping, ...stepping },
});

const changedByte = (bytes: Uint8Array, at: number, value: number): Uint8Array => {
  const copy = bytes.slice();
  copy[at] = value;
  return copy;
};

/** One register stands in for ip whatever else the instruction does with it. */
const alwaysScratch = (name: string, scratch: Reg): Fault =>
  misjudging(
    `${name} is the scratch register even of an instruction that names it`,
    (given, insn) =>
      given.stepping.scratch === null
        ? given
        : withStepping(given, {
            scratch,
            bytes: changedByte(
              given.stepping.bytes,
              modrmOffset(insn),
              0x80 | (modrmReg(insn) << 3) | scratch,
            ),
          }),
  );

const GROUP_5 = 0xff;
const CALL = 2;
const JUMP = 4;

const isIndirect = (insn: Insn, operation: number, operand: 'memory' | 'register'): boolean =>
  insn.opcode[0] === GROUP_5 &&
  modrmReg(insn) === operation &&
  (operand === 'register') === (insn.modrm ?? 0) >= 0xc0;

const wrongFixup = (about: string, applies: (insn: Insn) => boolean, ipFixup: IpFixup): Fault =>
  misjudging(about, (given, insn) =>
    given.handling.kind === 'step' && applies(insn) ? withStepping(given, { ipFixup }) : given,
  );

/** Low nibbles of jl and jge, without the bit that negates. */
const LESS = 0xc >> 1;

export const ANALYSIS_FAULTS: Faults = {
  'scratch-si-always': alwaysScratch('si', Reg.Rsi),
  'scratch-di-always': alwaysScratch('di', Reg.Rdi),
  'scratch-bx-always': alwaysScratch('bx', Reg.Rbx),
  'rex-b-kept': misjudging(
    'REX.B stays in a rewritten operand: r14 or r15 is read instead of si or di',
    (given, insn, file) =>
      given.stepping.scratch === null || insn.rex.length === 0
        ? given
        : withStepping(given, {
            bytes: changedByte(given.stepping.bytes, rexOffset(insn), file[rexOffset(insn)] ?? 0),
          }),
  ),
  'call-mem-ip-moved': wrongFixup(
    'ip is moved by the slot’s distance after call *mem, whose target is final',
    (insn) => isIndirect(insn, CALL, 'memory'),
    'ip',
  ),
  'jmp-reg-ip-moved': wrongFixup(
    'ip is moved by the slot’s distance after jmp *reg, whose target is final',
    (insn) => isIndirect(insn, JUMP, 'register'),
    'ip',
  ),
  'call-returns-to-slot': wrongFixup(
    'the return address that a stepped call pushed stays in the slot',
    (insn) => isIndirect(insn, CALL, 'memory') || isIndirect(insn, CALL, 'register'),
    'none',
  ),
  'jcc-pair-inverted': misjudging('jl and jge are taken for one another', (given) => {
    const { handling } = given;
    return handling.kind === 'branch' && handling.condition >> 1 === LESS
      ? { ...given, handling: { ...handling, condition: handling.condition ^ 1 } }
      : given;
  }),
  'jcc-rel32-short': misjudging(
    'a near jcc is taken to be 5 bytes long instead of 6',
    (given, insn) =>
      given.handling.kind === 'branch' && insn.opcode.length === 2
        ? { ...given, length: given.length - 1 }
        : given,
  ),
};
