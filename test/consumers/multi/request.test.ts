/** Multi links beside what Linux 6.18.44 answered to the same requests. */
import { beforeAll, describe, expect, it } from 'vitest';
import { attachMulti, type MultiHandlers, MultiLink } from '../../../src/consumers/multi/link.ts';
import { type EngineFactory, Prot } from '../../../src/cpu/engine.ts';
import { engines } from '../../helpers/engines.ts';
import { TEXT, withRig } from '../../uprobes/rig.ts';
import {
  DATA,
  ELSEWHERE,
  FUNCTIONS,
  GOLDEN,
  REQUESTS,
  S1,
  surroundings,
  TEXT_BYTES,
} from './requests.ts';

const nothing = (): undefined => undefined;
const HANDLERS: Readonly<Record<string, MultiHandlers>> = {
  return: { return: nothing },
  session: { entry: nothing, return: nothing },
};

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory | undefined;
    beforeAll(async () => {
      if (engine.missing === null) factory = await engine.load();
    });

    it('every line of the golden is asked here', () => {
      expect([...Object.keys(REQUESTS), ...ELSEWHERE].sort()).toEqual([...GOLDEN.keys()].sort());
    });

    for (const [name, request] of Object.entries(REQUESTS))
      it(name, (ctx) => {
        if (factory === undefined) return ctx.skip(engine.missing ?? '');
        withRig({ factory, profile: 'k6.18', text: TEXT_BYTES }, (rig) => {
          rig.map(DATA, Prot.Read | Prot.Write);
          const handlers = HANDLERS[name] ?? { entry: nothing };
          const link = attachMulti(rig.uprobes, surroundings(rig), request, handlers);
          expect(link instanceof MultiLink ? 'ok' : link.errno).toBe(GOLDEN.get(name));
          if (link instanceof MultiLink) link.detach();
          // "after": no breakpoint is left, and no counter is raised.
          for (const offset of FUNCTIONS) expect(rig.bytes(TEXT + offset, 1)).toBe('90');
          expect(rig.bytes(DATA + S1, 4)).toBe('00000000');
        });
      });
  });
