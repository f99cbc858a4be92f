import { expect, it } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { CODE, code, featuresOf } from '../../helpers/code.ts';
import { briefly, DATA, Flag, type Rig } from './rig.ts';

/** #GP at CPL 3 with IOPL 0 (SDM vol. 2, each page; vol. 3, 5.9). */
const PRIVILEGED = [
  'f4                     hlt',
  'fa                     cli',
  'fb                     sti',
  'e4 60                  in al,60h',
  'ec                     in al,dx',
  'e6 60                  out 60h,al',
  'ee                     out dx,al',
  '6c                     insb',
  '6e                     outsb',
  '0f 32                  rdmsr',
  '0f 30                  wrmsr',
  '0f 20 c0               mov rax,cr0',
  '0f 22 d8               mov cr3,rax',
  '0f 21 c0               mov rax,dr0',
  '0f 01 3b               invlpg [rbx]',
  '0f 01 13               lgdt [rbx]',
  '0f 01 1b               lidt [rbx]',
  '0f 00 d0               lldt ax',
  '0f 00 d8               ltr ax',
  '0f 01 f0               lmsw ax',
  '0f 06                  clts',
  '0f 08                  invd',
  '0f 09                  wbinvd',
  '0f 01 f8               swapgs',
  '48 0f 07               sysretq',
  '0f 33                  rdpmc',
];

/** #UD whatever the CPU: undefined in 64-bit mode, or meant to be. */
const INVALID = [
  '0f 0b                  ud2',
  '0f ff c0               ud0 eax,eax',
  '0f b9 c0               ud1 eax,eax',
  '06',
  '27',
  '60',
  'ce',
  'd6',
  '0f 04',
  'f0 90',
  'f0 01 c0',
  'ff f8',
  '0f 34                  sysenter',
  '0f 0f c1 9e            pfadd mm0,mm1',
];

/** Instructions that CPUs have and not every engine has. */
const LACKING = [
  'c5 f1 fe c2            vpaddd xmm0,xmm1,xmm2',
  'c5 fc 58 c1            vaddps ymm0,ymm0,ymm1',
  'c5 f8 77               vzeroupper',
  '62 f1 7c 48 58 c1      vaddps zmm0,zmm0,zmm1',
  'f3 0f b8 c1            popcnt eax,ecx',
  '0f 38 f0 03            movbe eax,[rbx]',
  '66 0f 3a 44 c1 11      pclmulhqhqdq xmm0,xmm1',
  '0f c7 f0               rdrand eax',
  '0f 01 d0               xgetbv',
  '0f ae 23               xsave [rbx]',
  'f3 48 0f ae d0         wrfsbase rax',
  '0f 38 c8 c1            sha1nexte xmm0,xmm1',
  // a REX that is not the last prefix counts for nothing (SDM vol. 2, 2.2.1)
  '48 66 b8 34 12         mov ax,1234h',
];

export const trapTests = (rig: () => Rig): void => {
  it('is behind an int3', () => {
    rig().load('90  nop\n cc  int3\n 90  nop');
    expect(briefly(rig().run())).toEqual(['int3@2']);
  });

  it('tells int3 from int 3', () => {
    rig().load('cd 03  int 3\n cc  int3');
    const seen = rig().run((trap) => (trap.kind === 'int3' ? 'stop' : 'go'));
    expect(briefly(seen)).toEqual(['interrupt@2', 'int3@3']);
    expect(seen[0]!.vector).toBe(3);
  });

  it('hands over int n with its vector', () => {
    for (const vector of [0, 1, 6, 13, 14, 32, 0x55, 128, 0xcc, 255]) {
      rig().load(`90  nop\n cd ${vector.toString(16).padStart(2, '0')}\n cc  int3`);
      const [trap] = rig().run();
      expect(trap).toMatchObject({ kind: 'interrupt', at: 3, vector });
    }
  });

  it('sets RCX and R11 for a syscall, and stands behind it', () => {
    // SDM vol. 2, SYSCALL: RCX = next RIP, R11 = RFLAGS
    rig().load('83 f8 06  cmp eax,6\n 0f 05  syscall\n cc  int3');
    rig().set(Reg.Rax, 5n);
    const seen = rig().run((trap) => {
      if (trap.kind !== 'syscall') return 'stop';
      expect(rig().get(Reg.Rcx)).toBe(0x40_0005n);
      expect(rig().get(Reg.R11)).toBe(0x202n | Flag.CF | Flag.PF | Flag.AF | Flag.SF);
      rig().set(Reg.Rax, 77n);
      return 'go';
    });
    expect(briefly(seen)).toEqual(['syscall@5', 'int3@6']);
    expect(rig().get(Reg.Rax)).toBe(77n);
  });

  it('divides by zero and overflows exactly, again and again', () => {
    rig().load(`
      48 ff c6               inc rsi
      48 f7 f1               div rcx
      cc                     int3`);
    for (let i = 0; i < 5; i++) {
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rax, 7n);
      rig().set(Reg.Rdx, i % 2 === 0 ? 0n : 9n);
      rig().set(Reg.Rcx, i % 2 === 0 ? 0n : 9n);
      expect(briefly(rig().run())).toEqual(['divide-error@3']);
      expect([rig().get(Reg.Rax), rig().get(Reg.Rsi)]).toEqual([7n, BigInt(i + 1)]);
    }
    let count = 0;
    rig().set(Reg.Rip, 0x40_0003n);
    const seen = rig().run(() => (++count === 5 ? 'stop' : 'go'));
    expect(new Set(briefly(seen))).toEqual(new Set(['divide-error@3']));
  });

  it('mixes exceptions without taking two for a double fault', () => {
    rig().load(`
      f7 f7                  div edi
      8b 13                  mov edx,[rbx]
      f4                     hlt
      0f 0b                  ud2
      cc                     int3`);
    rig().set(Reg.Rbx, 0x90_0000n);
    const seen = rig().run((trap, { at }) => {
      if (trap.kind === 'int3') return 'stop';
      rig().set(Reg.Rip, 0x40_0000n + BigInt(at) + (trap.kind === 'general-protection' ? 1n : 2n));
      return 'go';
    });
    expect(briefly(seen)).toEqual([
      'divide-error@0',
      'page-fault@2',
      'general-protection@4',
      'invalid-opcode@5',
      'int3@8',
    ]);
  });

  for (const listing of PRIVILEGED)
    it(`refuses ${listing.split(/\s{2,}/)[1]} at CPL 3`, () => {
      rig().load(`48 ff c6  inc rsi\n ${listing}`);
      rig().set(Reg.Rbx, DATA);
      expect(briefly(rig().run())).toEqual(['general-protection@3']);
      expect(rig().get(Reg.Rsi)).toBe(1n);
    });

  for (const listing of INVALID)
    it(`has no instruction ${listing.trim()}`, () => {
      rig().load(`48 ff c6  inc rsi\n ${listing}`);
      expect(briefly(rig().run())).toEqual(['invalid-opcode@3']);
      expect(rig().get(Reg.Rsi)).toBe(1n);
    });

  for (const listing of LACKING)
    it(`has, or says that it lacks, ${listing.split(/\s{2,}/)[1]}`, () => {
      rig().load('cc  int3');
      // not by `load`, which skips what is lacking
      rig().engine.poke(CODE, code(`48 ff c6  inc rsi\n ${listing}\n cc  int3`));
      rig().set(Reg.Rbx, DATA);
      const [trap] = rig().run();
      const { extensions } = rig().engine.capabilities;
      const needs = featuresOf(listing).filter((feature) => feature !== 'INTEL8086');
      const has = needs.every((feature) => extensions.includes(feature));
      if (has && trap!.kind === 'int3') return;
      expect(trap).toMatchObject({ kind: 'unsupported', at: 3 });
      expect(trap!.text.replace(/\s/g, '')).toBe(listing.split(/\s{2,}/)[1]!.replace(/\s/g, ''));
      expect(rig().get(Reg.Rsi)).toBe(1n);
    });

  /** Accesses that must lie on 16 bytes (SDM vol. 1, 4.1.1). */
  const ALIGNED = [
    '0f 28 03               movaps xmm0,[rbx]',
    '0f 29 03               movaps [rbx],xmm0',
    '66 0f 6f 03            movdqa xmm0,[rbx]',
    '66 0f 7f 03            movdqa [rbx],xmm0',
    '0f 2b 03               movntps [rbx],xmm0',
    '66 0f fe 03            paddd xmm0,[rbx]',
    '0f 58 03               addps xmm0,[rbx]',
    '66 0f 38 00 03         pshufb xmm0,[rbx]',
    '0f ae 03               fxsave [rbx]',
    '0f ae 0b               fxrstor [rbx]',
    'f0 48 0f c7 0b         lock cmpxchg16b [rbx]',
  ];
  const UNALIGNED = [
    '0f 10 03               movups xmm0,[rbx]',
    '0f 11 03               movups [rbx],xmm0',
    'f3 0f 6f 03            movdqu xmm0,[rbx]',
    'f2 0f f0 03            lddqu xmm0,[rbx]',
    'f3 0f 10 03            movss xmm0,dword ptr [rbx]',
    'f3 0f e6 03            cvtdq2pd xmm0,qword ptr [rbx]',
    '66 0f 3a 63 03 00      pcmpistri xmm0,[rbx],0',
    'f0 48 0f b1 13         lock cmpxchg [rbx],rdx',
  ];

  for (const listing of ALIGNED)
    it(`wants ${listing.split(/\s{2,}/)[1]} on 16 bytes, wherever its address comes from`, () => {
      for (const offset of [1n, 4n, 8n, 15n, 0n]) {
        const end = offset === 0n ? 'int3' : 'general-protection';
        // known when the block is entered
        rig().load(`48 ff c6  inc rsi\n ${listing}\n cc  int3`);
        rig().set(Reg.Rbx, DATA + offset);
        expect(rig().run()[0]!.kind).toBe(end);
        // computed in the block
        rig().load(`48 8b 1c 24  mov rbx,[rsp]\n ${listing}\n cc  int3`);
        rig().poke64(rig().get(Reg.Rsp), DATA + offset);
        const [trap] = rig().run();
        expect(trap!.kind).toBe(end);
        if (offset !== 0n) expect(trap!.at).toBe(4);
      }
    });

  for (const listing of UNALIGNED)
    it(`takes ${listing.split(/\s{2,}/)[1]} anywhere`, () => {
      rig().load(`48 ff c6  inc rsi\n ${listing}\n cc  int3`);
      rig().set(Reg.Rbx, DATA + 1n);
      expect(rig().run()[0]!.kind).toBe('int3');
    });

  it('checks alignment relative to FS and to the instruction', () => {
    rig().load('64 0f 28 03  movaps xmm0,fs:[rbx]\n cc  int3');
    rig().set(Reg.Rbx, DATA + 8n);
    rig().set(Reg.FsBase, 8n);
    expect(rig().run()[0]!.kind).toBe('int3');
    rig().set(Reg.Rip, 0x40_0000n);
    rig().set(Reg.FsBase, 4n);
    expect(rig().run()[0]!.kind).toBe('general-protection');
    rig().load('0f 28 05 02 00 00 00  movaps xmm0,[400009h]\n cc  int3');
    expect(briefly(rig().run())).toEqual(['general-protection@0']);
  });

  it('takes int1 for a debug trap behind itself', () => {
    rig().load('48 ff c6  inc rsi\n f1  int1\n cc  int3');
    expect(briefly(rig().run())).toEqual(['debug@4']);
  });

  it('reports an unmasked x87 exception at fwait', () => {
    // FCW with ZE unmasked; 1/0 sets ES, and the next waiting instruction is #MF (SDM vol. 1, 8.7)
    rig().load(`
      d9 2b                  fldcw [rbx]
      d9 e8                  fld1
      d9 ee                  fldz
      de f9                  fdivp
      9b                     wait
      cc                     int3`);
    rig().engine.poke(DATA, Uint8Array.of(0x7b, 0x03));
    rig().set(Reg.Rbx, DATA);
    expect(briefly(rig().run())).toEqual(['fpu-error@8']);
  });
};
