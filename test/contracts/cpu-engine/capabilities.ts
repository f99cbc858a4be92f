import { expect, it } from 'vitest';
import { type EngineFactory, Reg } from '../../../src/cpu/engine.ts';
import { CODE, code } from '../../helpers/code.ts';
import { DATA, type Rig, type Seen } from './rig.ts';

/** Instructions by the feature that they need; [rbx] can be read and written. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  CMPXCHG16B: ['48 0f c7 0b  cmpxchg16b [rbx]'],
  SSE3: ['f2 0f 7c c1  haddps xmm0,xmm1', 'f2 0f d0 c1  addsubps xmm0,xmm1'],
  SSSE3: ['66 0f 38 00 c1  pshufb xmm0,xmm1', '66 0f 3a 0f c1 01  palignr xmm0,xmm1,1'],
  SSE4_1: ['66 0f 38 17 c1  ptest xmm0,xmm1', '66 0f 3a 16 c8 01  pextrd eax,xmm1,1'],
  SSE4_2: ['f2 0f 38 f1 c1  crc32 eax,ecx', '66 0f 3a 63 c1 00  pcmpistri xmm0,xmm1,0'],
  AES: ['66 0f 38 dc c1  aesenc xmm0,xmm1', '66 0f 3a df c1 01  aeskeygenassist xmm0,xmm1,1'],
  PREFETCHW: ['0f 0d 0b  prefetchw [rbx]'],
  CET_IBT: ['f3 0f 1e fa  endbr64'],
  POPCNT: ['f3 0f b8 c1  popcnt eax,ecx'],
  MOVBE: ['0f 38 f0 03  movbe eax,[rbx]'],
  BMI1: [
    'c4 e2 70 f2 c2  andn eax,ecx,edx',
    'c4 e2 68 f7 c1  bextr eax,ecx,edx',
    'c4 e2 78 f3 d9  blsi eax,ecx',
    'c4 e2 78 f3 d1  blsmsk eax,ecx',
    'c4 e2 78 f3 c9  blsr eax,ecx',
  ],
  BMI2: [
    'c4 e2 68 f5 c1  bzhi eax,ecx,edx',
    'c4 e2 73 f6 c2  mulx eax,ecx,edx',
    'c4 e2 73 f5 c2  pdep eax,ecx,edx',
    'c4 e2 72 f5 c2  pext eax,ecx,edx',
    'c4 e3 7b f0 c1 01  rorx eax,ecx,1',
    'c4 e2 6a f7 c1  sarx eax,ecx,edx',
    'c4 e2 69 f7 c1  shlx eax,ecx,edx',
    'c4 e2 6b f7 c1  shrx eax,ecx,edx',
  ],
  ADX: ['66 0f 38 f6 c1  adcx eax,ecx', 'f3 0f 38 f6 c1  adox eax,ecx'],
  FSGSBASE: ['f3 48 0f ae c0  rdfsbase rax'],
  PCLMULQDQ: ['66 0f 3a 44 c1 00  pclmullqlqdq xmm0,xmm1'],
};
/** To a CPU without LZCNT it is `bsr`: nothing refuses it. */
const NEVER_REFUSED = ['f3 0f bd c1  lzcnt eax,ecx'];

export const capabilityTests = (rig: () => Rig, factory: () => EngineFactory): void => {
  it('tells what it can do, the same as its factory', () => {
    const { capabilities, name } = rig().engine;
    expect([factory().capabilities, factory().name]).toEqual([capabilities, name]);
    expect(capabilities.extensions.length).toBeGreaterThan(0);
    // VEX code must be refused where AVX is not claimed
    rig().load('c5 f1 fe c2  vpaddd xmm0,xmm1,xmm2\n cc  int3');
    expect(rig().run()[0]!.kind).toBe(capabilities.avx ? 'int3' : 'unsupported');
  });

  it('executes what it lists, and refuses by name what it does not', () => {
    const { extensions, lacks } = rig().engine.capabilities;
    const outcome = (listing: string): string => {
      rig().load('cc  int3');
      rig().engine.poke(CODE, code(`${listing}\n cc  int3`));
      rig().set(Reg.Rbx, DATA);
      const [{ kind, text }] = rig().run() as [Seen];
      return kind === 'unsupported' ? `lacks ${text}` : kind;
    };
    const examples = { ...EXAMPLES, LZCNT: NEVER_REFUSED };
    for (const feature of [...extensions, ...lacks])
      expect(Object.keys(examples)).toContain(feature);
    for (const [feature, listings] of Object.entries(EXAMPLES))
      for (const listing of listings) {
        const name = listing.split(/\s{2,}/)[1]!;
        const expected = extensions.includes(feature) ? 'int3' : `lacks ${name}`;
        expect([name, outcome(listing)]).toEqual([name, expected]);
      }
    for (const listing of NEVER_REFUSED) expect(outcome(listing)).toBe('int3');
    expect(extensions.filter((feature) => lacks.includes(feature))).toEqual([]);
  });

  it('says what it gets wrong in whole sentences', () => {
    for (const sentence of rig().engine.capabilities.knownWrong)
      expect(sentence).toMatch(/^\w.* .*\.$/);
  });
};
