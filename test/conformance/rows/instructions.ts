/** Instructions under a probe: what the CPU does without one is what must come out. */
import { expect } from 'vitest';
import { Frame, SigContext, UContext } from '../../../src/abi/sigframe.ts';
import { Prot, Reg } from '../../../src/cpu/engine.ts';
import { END, type Rig, STACK_TOP } from '../../uprobes/rig.ts';
import { counting, DISTINCT, entering, registersOf } from '../registers.ts';
import type { Rows, Trial } from '../row.ts';

const F = 0x401000n;
const G = 0x401100n;
/** Lists of functions begin here. */
const LIST = 0x402000n;
/** Ordinary memory that RIP-relative operands reach. */
const DATA = 0x600000n;
const SP = STACK_TOP - 0x100n;
/** Where nothing is mapped below. */
const BARE_PAGE = 0x780000n;
const PAGE = 0x1000n;
const RETURNED = { kind: 'returned' };
const SIGTRAP = 5;
const SIGSEGV = 11;
const TF = 0x100n;
const UNPROBED = 'the CPU, unprobed';

/** CF, PF, ZF, SF and OF in all combinations. */
const FLAGS = Array.from({ length: 32 }, (_, bits) =>
  [0, 2, 6, 7, 11].reduce(
    (flags, bit, index) => flags | (BigInt((bits >> index) & 1) << BigInt(bit)),
    0x202n,
  ),
);

const hex = (...bytes: readonly number[]): string => Buffer.from(bytes).toString('hex');

const int32 = (value: bigint | number): number[] => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(Number(value));
  return [...bytes];
};

/** An instruction whose operand is at DATA: what stands before its displacement and what behind. */
interface RipRelative {
  readonly head: readonly number[];
  readonly tail: readonly number[];
}

const ripRelative = (head: readonly number[], tail: readonly number[] = []): RipRelative => ({
  head,
  tail,
});

/** Its code at an address, with a ret behind. */
const codeAt = (at: bigint, { head, tail }: RipRelative): string =>
  hex(...head, ...int32(DATA - at - BigInt(head.length + 4 + tail.length)), ...tail, 0xc3);

const RIP_RELATIVE: Readonly<Record<string, RipRelative>> = {
  ...Object.fromEntries(
    // modrm.reg of ax, si, di, bx, and r14 by REX.R
    (
      [
        ['ax', 0x48, 0],
        ['si', 0x48, 6],
        ['di', 0x48, 7],
        ['bx', 0x48, 3],
        ['r14', 0x4c, 6],
      ] as const
    ).flatMap(([name, rex, reg]) => {
      const modrm = (reg << 3) | 5;
      return [
        [`mov to ${name}`, ripRelative([rex, 0x8b, modrm])],
        [`mov from ${name}`, ripRelative([rex, 0x89, modrm])],
        [`lea to ${name}`, ripRelative([rex, 0x8d, modrm])],
        [`cmp with ${name}`, ripRelative([rex, 0x39, modrm])],
        [`imul by 1000 to ${name}`, ripRelative([rex, 0x69, modrm], int32(1000))],
      ];
    }),
  ),
  'mov of an immediate': ripRelative([0x48, 0xc7, 0x05], int32(-2)),
  'cmp with an immediate': ripRelative([0x81, 0x3d], int32(7)),
  // REX.B means nothing here, but would turn the scratch register into r14 or r15.
  'mov with a spare REX.B': ripRelative([0x49, 0x8b, 0x05]),
  'call through memory': ripRelative([0xff, 0x15]),
  'jmp through memory': ripRelative([0xff, 0x25]),
  'cmpxchg16b, which uses bx': ripRelative([0x48, 0x0f, 0xc7, 0x0d]),
  // VEX with vvvv = si; the second one names si and di, so bx stands in. Not every engine has them.
  'shlx by si to ax': ripRelative([0xc4, 0xe2, 0xc9, 0xf7, 0x05]),
  'shlx by si to di': ripRelative([0xc4, 0xe2, 0xc9, 0xf7, 0x3d]),
};

/** Registers and memory after a call of F or a function behind it. */
const resultOf = (rig: Rig, at: bigint) => {
  rig.mm.space.writeU64(DATA, G);
  rig.mm.space.writeU64(DATA + 8n, 7n);
  const end = rig.call(at, DISTINCT);
  return { end, registers: registersOf(rig), memory: rig.bytes(DATA, 16) };
};

const withData = (rig: Rig): Rig => {
  const prot = Prot.Read | Prot.Write;
  rig.mm.space.map({ address: DATA, placement: 'only', size: PAGE, prot });
  return rig;
};

/** Where the functions of a list lie. */
const placeOf = (index: number): bigint => LIST + BigInt(index * 32);

/** Two processes with the same functions; in the second one each is probed. */
const bothWith = (trial: Trial, functions: readonly string[]): { plain: Rig; probed: Rig } => {
  const text = Object.fromEntries([
    ...functions.map((code, index) => [`0x${placeOf(index).toString(16)}`, code] as const),
    [`0x${G.toString(16)}`, 'b8 05 00 00 00 c3'], // what memory operands point to: mov $5,%eax; ret
  ]);
  const plain = withData(trial.rig(text));
  const probed = withData(trial.rig(text));
  for (const index of functions.keys()) probed.attach(placeOf(index), counting({ count: 0 }));
  return { plain, probed };
};

/** Address of a register in the signal frame at sp. */
const frameAddress = (rig: Rig, offset: number): bigint =>
  rig.reg(Reg.Rsp) + BigInt(Frame.ucontext + UContext.mcontext + offset);

const inFrame = (rig: Rig, offset: number): bigint | undefined =>
  rig.mm.space.readU64(frameAddress(rig, offset));

/** One word of stack with nothing mapped below it; `ret` goes to END from there. */
const onBarePage = (rig: Rig): void => {
  rig.mm.space.map({
    address: BARE_PAGE,
    placement: 'only',
    size: PAGE,
    prot: Prot.Read | Prot.Write,
  });
};

const mapBelow = (rig: Rig): void => {
  rig.mm.space.map({
    address: BARE_PAGE - PAGE,
    placement: 'only',
    size: PAGE,
    prot: Prot.Read | Prot.Write,
  });
};

const rows: Rows = [
  {
    id: 'C72',
    what: 'every jcc, rel8 and rel32, with all 32 combinations of flags',
    from: UNPROBED,
    run(trial) {
      const near = (condition: number): string =>
        hex(0x0f, 0x80 + condition, ...int32(6), 0xb8, ...int32(1), 0xc3, 0xb8, ...int32(2), 0xc3);
      const short = (condition: number): string =>
        hex(0x70 + condition, 6, 0xb8, ...int32(1), 0xc3, 0xb8, ...int32(2), 0xc3);
      const functions = Array.from({ length: 32 }, (_, index) =>
        (index < 16 ? short : near)(index & 15),
      );
      const { plain, probed } = bothWith(trial, functions);
      for (const index of functions.keys()) {
        const results = (rig: Rig) =>
          FLAGS.map((flags) => [
            rig.call(placeOf(index), { [Reg.Rflags]: flags }),
            rig.reg(Reg.Rax),
          ]);
        expect(results(probed)).toEqual(results(plain));
      }
      expect(probed.uprobes.counters.emulated).toBe(functions.length * FLAGS.length);
    },
  },
  {
    id: 'C73',
    what: 'push of each register, sp included; a push that faults starts over when its page has come',
    from: `${UNPROBED}; the fault as on Linux 6.18.44`,
    run(trial) {
      // push; pop %rax; ret
      const functions = Array.from({ length: 16 }, (_, reg) =>
        hex(...(reg < 8 ? [] : [0x41]), 0x50 + (reg & 7), 0x58, 0xc3),
      );
      const { plain, probed } = bothWith(trial, functions);
      for (const reg of functions.keys()) {
        expect(resultOf(probed, placeOf(reg))).toEqual(resultOf(plain, placeOf(reg)));
        expect(probed.reg(Reg.Rax)).toBe(reg === Reg.Rsp ? SP : DISTINCT[reg]);
      }
      expect(probed.uprobes.counters.emulated).toBe(functions.length);
      const rig = trial.rig({ '0x401000': '55 5d c3' }); // push %rbp; pop %rbp; ret
      const hits = { count: 0 };
      rig.attach(F, counting(hits));
      onBarePage(rig);
      expect(rig.call(F, { ...DISTINCT, [Reg.Rsp]: BARE_PAGE })).toMatchObject({
        signal: SIGSEGV,
        address: BARE_PAGE - 8n,
        ip: F,
        sp: BARE_PAGE,
      });
      mapBelow(rig);
      expect(rig.resume()).toEqual(RETURNED);
      expect(registersOf(rig)).toEqual({ ...DISTINCT, [Reg.Rsp]: BARE_PAGE + 8n });
      expect(hits.count).toBe(2);
    },
  },
  {
    id: 'C74',
    what: 'a call that cannot push: SIGSEGV at sp-8 with ip at the call; it works once it can',
    from: 'Linux 6.18.44',
    run(trial) {
      const rig = trial.rig({ '0x401000': 'e8 fb 00 00 00 c3', '0x401100': 'c3' });
      const hits = { count: 0 };
      rig.attach(F, counting(hits));
      onBarePage(rig);
      expect(rig.call(F, { ...DISTINCT, [Reg.Rsp]: BARE_PAGE })).toMatchObject({
        signal: SIGSEGV,
        address: BARE_PAGE - 8n,
        ip: F,
        sp: BARE_PAGE,
      });
      mapBelow(rig);
      expect(rig.resume()).toEqual(RETURNED);
      expect(rig.mm.space.readU64(BARE_PAGE - 8n)).toBe(F + 5n);
      expect(hits.count).toBe(2);
    },
  },
  {
    id: 'C75',
    what: 'RIP-relative operands with every scratch register, immediates behind them, call, jmp (VEX where the engine can)',
    from: UNPROBED,
    run(trial) {
      const codes = Object.values(RIP_RELATIVE).map((given, index) =>
        codeAt(placeOf(index), given),
      );
      const { plain, probed } = bothWith(trial, codes);
      let steps = 0;
      Object.keys(RIP_RELATIVE).forEach((name, index) => {
        const at = placeOf(index);
        const expected = resultOf(plain, at);
        if (expected.end.kind === 'unsupported') return;
        expect(resultOf(probed, at), name).toEqual(expected);
        steps++;
      });
      expect(probed.uprobes.counters.singleSteps).toBe(steps);
      expect(steps).toBeGreaterThanOrEqual(31);
    },
  },
  {
    id: 'C75b',
    what: 'call and jmp through a register: the target, and the return address the callee finds',
    from: UNPROBED,
    run(trial) {
      // call *%rdx; lea 0(%rip),%rcx; ret    jmp *%rdx    call *8(%rdi); ret
      const functions = ['ff d2 48 8d 0d 00 00 00 00 c3', 'ff e2', 'ff 57 08 c3'];
      const { plain, probed } = bothWith(trial, functions);
      for (const rig of [plain, probed]) rig.mm.space.writeU64(DATA + 8n, G);
      for (const index of functions.keys()) {
        const run = (rig: Rig): unknown => {
          const regs = { ...DISTINCT, [Reg.Rdx]: G, [Reg.Rdi]: DATA };
          return [rig.call(placeOf(index), regs), registersOf(rig), rig.bytes(SP - 8n, 8)];
        };
        expect(run(probed)).toEqual(run(plain));
      }
      expect(probed.uprobes.counters.singleSteps).toBe(functions.length);
    },
  },
  {
    id: 'C76',
    what: 'a program that steps itself over probed nop, push, ret, popf and mov: one SIGTRAP each',
    from: UNPROBED,
    run(trial) {
      const instructions = ['90', '55', 'c3', '9d', '48 8b 05 f9 0f 00 00'];
      const { plain, probed } = bothWith(
        trial,
        instructions.map((code) => `${code} 90 c3`),
      );
      const step = (rig: Rig, at: bigint): readonly unknown[] => {
        const end = rig.call(at, { [Reg.Rflags]: 0x202n | TF });
        return end.kind === 'signal' ? [end.signal, end.ip, end.sp, end.flags & TF] : [];
      };
      instructions.forEach((code, index) => {
        const expected = step(plain, placeOf(index));
        expect(step(probed, placeOf(index)), code).toEqual(expected);
        expect(expected, code).toContain(SIGTRAP);
      });
    },
  },
  {
    id: 'C77',
    what: 'a load from address 0 in its slot; the handler mends rax: it completes, entry handlers ran twice; a scratch register is back in the frame',
    from: 'Linux 6.18.44',
    run(trial) {
      const rig = trial.rig({ '0x401000': '48 8b 18 c3' }); // mov (%rax),%rbx; ret
      const hits = { count: 0 };
      rig.attach(F, counting(hits));
      const end = rig.call(F, { ...DISTINCT, [Reg.Rax]: 0n });
      expect(end).toMatchObject({ signal: SIGSEGV, address: 0n, ip: F });
      rig.mm.space.writeU64(frameAddress(rig, SigContext.ax), SP);
      expect(rig.resume()).toEqual(RETURNED);
      expect(rig.reg(Reg.Rbx)).toBe(END);
      expect(hits.count).toBe(2);
      // mov 0x1eeff9(%rip),%rax: nothing is mapped at 0x5f0000. The scratch register is si.
      const relative = trial.rig({ '0x401000': '48 8b 05 f9 ef 1e 00 c3' });
      relative.attach(F, counting(hits));
      expect(relative.call(F, DISTINCT)).toMatchObject({ signal: SIGSEGV, address: 0x5f0000n });
      expect(inFrame(relative, SigContext.si)).toBe(DISTINCT[Reg.Rsi]);
    },
  },
  {
    id: 'C83',
    what: 'a handler moves ip: the instruction is skipped since 6.18, done from the new ip before',
    from: 'Linux 6.18.44; the change’s description for older ones',
    run(trial) {
      const rig = trial.rig({ '0x401000': '55 5d c3', '0x401100': '90 c3' });
      rig.attach(
        F,
        entering(({ regs }) => regs.write(Reg.Rip, G)),
      );
      // Skipped: G runs. Emulated: push %rbp, then ip = G + 1, whose ret pops what was pushed.
      rig.call(F, { [Reg.Rbp]: END });
      expect(rig.reg(Reg.Rsp)).toBe(trial.profile.skipInsnWhenIpChanged ? SP + 8n : SP);
    },
  },
];

export default rows;
