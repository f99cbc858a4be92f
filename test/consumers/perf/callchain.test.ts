/** Call chains under the rules of each kernel; `facts/callchain.c` asks Linux 6.18 for many more. */
import { describe, expect, it } from 'vitest';
import { Sample } from '../../../src/abi/perf.ts';
import { decodeSample } from '../../../src/consumers/perf/index.ts';
import { PROFILES, type Profile } from '../../../src/uprobes/index.ts';
import { cpuEngines } from '../../helpers/engines.ts';
import { END, Rig } from '../../uprobes/rig.ts';
import { attr, PerfRig } from './perf-rig.ts';

const OUTER = 0x401000n;
const AFTER_CALL = 0x401009n;
const INNER = 0x401020n;
const TEXT = {
  // push %rbp; mov %rsp,%rbp; call INNER; pop %rbp; ret
  '0x401000': '55 48 89 e5 e8 17 00 00 00 5d c3',
  // push %rbp; pop %rbp; ret
  '0x401020': '55 5d c3',
};
const ATTR = attr({ samplePeriod: 1n, sampleType: Sample.CALLCHAIN });

/** The chain at INNER while the return of OUTER is probed. */
const chainOf = (rig: Rig): readonly bigint[] => {
  const perf = new PerfRig(rig);
  perf.open(perf.define('r', OUTER));
  const event = perf.open(perf.define('p', INNER), ATTR);
  let chain: readonly bigint[] = [];
  event.listener = (bytes) => {
    chain = decodeSample(event.attr, bytes, []).callchain ?? [];
  };
  rig.call(OUTER);
  return chain;
};

const expected = (rig: Rig): Readonly<Record<Profile['userCallchains'], readonly bigint[]>> => ({
  'as-on-stack': [INNER, ...rig.specials('[uprobes]')],
  returns: [INNER, END],
  'returns-and-push': [INNER, AFTER_CALL, END],
});

for (const engine of cpuEngines)
  describe(`engine ${engine.name}`, () => {
    it.for(PROFILES)('$name: $userCallchains', async ({ name, userCallchains }, ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const rig = new Rig({ factory: await engine.load(), profile: name, text: TEXT });
      // Frame pointers end at rbp = 0, which Rig.call starts with.
      const chain = chainOf(rig);
      expect(chain).toEqual(expected(rig)[userCallchains]);
      rig.dispose();
    });
  });
