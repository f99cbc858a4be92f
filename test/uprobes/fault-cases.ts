/**
 * For each fault that can be planted: a small program and what it shows when uprobes are right. The
 * right values follow from the code beside them: a probe changes nothing that the program computes.
 */
import { Frame, SigContext, UContext } from '../../src/abi/sigframe.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { HandlerResult, type ProfileName } from '../../src/uprobes/index.ts';
import { watchTextWrites } from '../../src/uprobes/testing.ts';
import { hexOf, type Rig, STACK_TOP, TEXT } from './rig.ts';

export interface FaultCase {
  readonly profile: ProfileName;
  /** Code at {@link F}; more by address. */
  readonly code: string;
  readonly more?: Readonly<Record<string, string>>;
  readonly observe: (rig: Rig) => unknown;
  readonly right: unknown;
}

const F = 0x401000n;
const G = 0x401100n;
const SP = STACK_TOP - 0x100n;
const CF = 1n;
const RETURNED = { kind: 'returned' };
const SIGSEGV = 11;

/** At 0x402000: what RIP-relative operands of F reach. */
const DATA = { '0x402000': '88 77 66 55 44 33 22 11' };
const DATUM = 0x1122334455667788n;
const RETURNS_5 = { '0x401100': 'b8 05 00 00 00 c3' }; // mov $5,%eax; ret

const probe = (rig: Rig, at = F) => rig.attach(at, { entry: () => HandlerResult.Continue });

/** Probes F, calls it, and reads a register. */
const register =
  (reg: Reg, regs: Partial<Record<number, bigint>> = {}) =>
  (rig: Rig): bigint => {
    probe(rig);
    rig.call(F, regs);
    return rig.reg(reg);
  };

/** Probes F, calls it, and tells how that ended and what ax is. */
const ending =
  (regs: Partial<Record<number, bigint>> = {}) =>
  (rig: Rig): unknown => {
    probe(rig);
    return [rig.call(F, regs), rig.reg(Reg.Rax)];
  };

/** Calls a probed F twice, so that an optimised site is called the second time. */
const twice =
  (regs: Partial<Record<number, bigint>> = {}) =>
  (rig: Rig): bigint => {
    probe(rig);
    rig.call(F, regs);
    rig.call(F, regs);
    return rig.reg(Reg.Rax);
  };

/** A register in the signal frame that lies at sp. */
const inFrame = (rig: Rig, offset: number): bigint | undefined =>
  rig.mm.space.readU64(rig.reg(Reg.Rsp) + BigInt(Frame.ucontext + UContext.mcontext + offset));

const returning = (rig: Rig, ...functions: readonly bigint[]): string[] => {
  const list: string[] = [];
  for (const at of functions) rig.trace(at, `0x${at.toString(16)}`, list, 'return');
  return list;
};

/** Where a second trampoline is needed: the end of its call is 2^31 + 0x705 above the first one. */
const FAR_TEXT = 0x803fe000n;
const NOP5_SITE = 0x401700n;

const loadInto = (code: string, reg: Reg): FaultCase => ({
  profile: 'k6.18',
  code,
  more: DATA,
  observe: register(reg),
  right: DATUM,
});

export const FAULT_CASES: Readonly<Record<string, FaultCase>> = {
  // mov 0xff9(%rip),%rsi and so on; ret
  'scratch-si-always': loadInto('48 8b 35 f9 0f 00 00 c3', Reg.Rsi),
  'scratch-di-always': loadInto('48 8b 3d f9 0f 00 00 c3', Reg.Rdi),
  'scratch-bx-always': loadInto('48 8b 1d f9 0f 00 00 c3', Reg.Rbx),
  // REX.WB, which means nothing here
  'rex-b-kept': loadInto('49 8b 05 f9 0f 00 00 c3', Reg.Rax),
  'operand-based-at-site': loadInto('48 8b 05 f9 0f 00 00 c3', Reg.Rax),
  'scratch-lost-after-step': {
    profile: 'k6.18',
    code: '48 8b 05 f9 0f 00 00 c3',
    observe: register(Reg.Rsi, { [Reg.Rsi]: 0x55n }),
    right: 0x55n,
  },
  'scratch-lost-after-fault': {
    profile: 'k6.18',
    code: '48 8b 05 f9 ef 1f 00 c3', // mov 0x1feff9(%rip),%rax: 0x600000 is not mapped
    observe: (rig) => {
      probe(rig);
      rig.call(F, { [Reg.Rsi]: 0x55n });
      return inFrame(rig, SigContext.si);
    },
    right: 0x55n,
  },
  'call-mem-ip-moved': {
    profile: 'k6.18',
    code: 'ff 15 fa 0f 00 00 c3', // call *0xffa(%rip); ret
    more: { '0x402000': '00 11 40 00 00 00 00 00', ...RETURNS_5 },
    observe: ending(),
    right: [RETURNED, 5n],
  },
  'jmp-reg-ip-moved': {
    profile: 'k6.18',
    code: 'ff e0', // jmp *%rax
    more: RETURNS_5,
    observe: ending({ [Reg.Rax]: G }),
    right: [RETURNED, 5n],
  },
  'call-returns-to-slot': {
    profile: 'k6.18',
    code: 'ff d0 48 8d 0d 00 00 00 00 c3', // call *%rax; lea 0(%rip),%rcx; ret
    more: RETURNS_5,
    observe: register(Reg.Rcx, { [Reg.Rax]: G }),
    right: F + 9n,
  },
  'jcc-pair-inverted': {
    profile: 'k6.18',
    code: '7c 06 b8 01 00 00 00 c3 b8 02 00 00 00 c3', // jl 1f; mov $1,%eax; ret; 1: mov $2,%eax; ret
    observe: ending(),
    right: [RETURNED, 1n],
  },
  'jcc-rel32-short': {
    profile: 'k6.18',
    code: '0f 84 10 00 00 00 b8 01 00 00 00 c3', // je .+0x16, not taken; mov $1,%eax; ret
    observe: ending(),
    right: [RETURNED, 1n],
  },
  'push-sp-decremented': {
    profile: 'k6.18',
    code: '54 58 c3', // push %rsp; pop %rax; ret
    observe: register(Reg.Rax),
    right: SP,
  },
  'call-fault-loses-sp': {
    profile: 'k6.18',
    code: 'e8 00 00 00 00 c3',
    observe: (rig) => {
      probe(rig);
      const end = rig.call(F, { [Reg.Rsp]: 0x401300n }); // the stack is text: nobody may write
      return end.kind === 'signal' ? [end.signal, end.address, end.sp] : end;
    },
    right: [SIGSEGV, 0x401300n - 8n, 0x401300n],
  },
  'tf-left-after-step': {
    profile: 'k6.18',
    code: '48 89 f8 c3', // mov %rdi,%rax; ret
    observe: ending({ [Reg.Rdi]: 7n }),
    right: [RETURNED, 7n],
  },
  'tf-left-after-fault': {
    profile: 'k6.18',
    code: '48 8b 18 c3', // mov (%rax),%rbx
    observe: (rig) => {
      probe(rig);
      const end = rig.call(F);
      return end.kind === 'signal' ? [end.signal, end.flags & 0x100n] : end;
    },
    right: [SIGSEGV, 0n],
  },
  'slot-reused': {
    profile: 'k6.18',
    code: 'b8 07 00 00 00 c3', // mov $7,%eax; ret
    observe: ending(),
    right: [RETURNED, 7n],
  },
  'flags-clobbered': {
    profile: 'k6.18',
    code: '90 9c 58 c3', // nop; pushf; pop %rax; ret
    observe: register(Reg.Rax, { [Reg.Rflags]: 0x202n | CF }),
    right: 0x202n | CF,
  },
  'return-pops-swapped': {
    profile: 'k6.18',
    code: '90 c3',
    observe: (rig) => {
      returning(rig, F);
      rig.call(F, { [Reg.Rcx]: 1n, [Reg.R11]: 2n });
      return [rig.reg(Reg.Rcx), rig.reg(Reg.R11)];
    },
    right: [1n, 2n],
  },
  'return-ax-lost': {
    profile: 'k6.18',
    code: '90 b8 05 00 00 00 c3', // nop; mov $5,%eax; ret
    observe: (rig) => {
      returning(rig, F);
      rig.call(F);
      return rig.reg(Reg.Rax);
    },
    right: 5n,
  },
  'chain-reversed': {
    profile: 'k6.18',
    code: '90 e9 fa 00 00 00', // nop; jmp G
    more: { '0x401100': '90 c3' },
    observe: (rig) => {
      const list = returning(rig, F, G);
      rig.call(F);
      return list;
    },
    right: ['0x401100:ret', '0x401000:ret'],
  },
  'depth-63': {
    profile: 'k6.18',
    code: '53 ff cf 74 05 e8 f6 ff ff ff 5b c3', // push %rbx; dec %edi; jz 1f; call F; 1: pop %rbx; ret
    observe: (rig) => {
      const list = returning(rig, F);
      rig.call(F, { [Reg.Rdi]: 70n });
      return list.length;
    },
    right: 64,
  },
  'alive-strictly-below': {
    profile: 'k6.18',
    code: 'e8 fb 00 00 00 c3', // call G; ret: when G has returned, sp is where F's return address lies
    more: { '0x401100': '90 c3' },
    observe: (rig) => {
      const list = returning(rig, F, G);
      return [rig.call(F), list];
    },
    right: [RETURNED, ['0x401100:ret', '0x401000:ret']],
  },
  'ret-imm16-ignored': {
    profile: 'k6.18',
    code: '90 c2 10 00', // nop; ret $16
    observe: (rig) => {
      returning(rig, F);
      rig.call(F);
      return rig.reg(Reg.Rsp);
    },
    right: SP + 8n + 16n,
  },
  'optimised-return-off-by-one': {
    profile: 'k6.18',
    code: '0f 1f 44 00 00 b8 05 00 00 00 c3', // nop5; mov $5,%eax; ret
    observe: twice(),
    right: 5n,
  },
  'optimised-write-order': {
    profile: 'k6.18',
    code: '0f 1f 44 00 00 c3',
    observe: (rig) => {
      const first: string[] = [];
      watchTextWrites(rig.uprobes, () => void first.push(rig.bytes(F, 1)));
      probe(rig);
      rig.call(F);
      return first;
    },
    right: ['cc', 'cc', 'e8'],
  },
  'optimised-flags-clobbered': {
    profile: 'k6.18',
    code: '0f 1f 44 00 00 9c 58 c3', // nop5; pushf; pop %rax; ret
    observe: twice({ [Reg.Rflags]: 0x202n | CF }),
    right: 0x202n | CF,
  },
  'reach-page-too-far': {
    profile: 'k6.18',
    code: 'c3',
    more: { '0x401700': '0f 1f 44 00 00 c3' },
    observe: (rig) => {
      rig.map(FAR_TEXT, 5); // read and execute
      probe(rig, NOP5_SITE);
      const far = FAR_TEXT + NOP5_SITE - TEXT;
      const ends = [NOP5_SITE, NOP5_SITE, far, far].map((at) => rig.call(at).kind);
      return [ends, rig.uprobes.counters.trampolines];
    },
    right: [['returned', 'returned', 'returned', 'returned'], 2],
  },
  'nop-keeps-call-byte': {
    profile: 'k6.18',
    code: '0f 1f 44 00 00 c3',
    observe: (rig) => {
      const handle = probe(rig);
      rig.call(F);
      rig.uprobes.unregister(handle);
      return rig.bytes(F, 6);
    },
    right: '0f1f440000c3',
  },
  'red-zone-shifted': {
    profile: 'k7.3',
    // mov %rdi,-128(%rsp); nop10; mov -128(%rsp),%rax; ret
    code: '48 89 7c 24 80 66 2e 0f 1f 84 00 00 00 00 00 48 8b 44 24 80 c3',
    observe: (rig) => {
      probe(rig, F + 5n);
      rig.call(F, { [Reg.Rdi]: 7n });
      rig.call(F, { [Reg.Rdi]: 7n });
      return rig.reg(Reg.Rax);
    },
    right: 7n,
  },
  'breakpoint-in-file': {
    profile: 'k6.18',
    code: '90 c3',
    observe: (rig) => {
      probe(rig);
      const bytes = new Uint8Array(2);
      rig.file.read(F - TEXT, bytes);
      return hexOf(bytes);
    },
    right: '90c3',
  },
};
