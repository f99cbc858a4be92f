/**
 * Who makes the kernel evaluate a hit's arguments: each event that a trace or perf wants, once,
 * whoever else listens to it; functions never.
 */
import { describe, expect, it } from 'vitest';
import type { ProbeEvent } from '../../../src/consumers/event/event.ts';
import type { EventRecord } from '../../../src/consumers/event/event-record.ts';
import { HandlerResult } from '../../../src/uprobes/index.ts';
import { cpuEngines } from '../../helpers/engines.ts';
import { Rig } from '../../uprobes/rig.ts';
import { PerfRig } from './perf-rig.ts';

const F = 0x401000n;
const HITS = 3;
const ARGUMENTS = '+0(%sp):u64 $comm';

/** A way to listen, and how often it evaluates the arguments of one hit. */
interface Listener {
  readonly builds: number;
  attach(perf: PerfRig): void;
}

const define = (perf: PerfRig): ProbeEvent => perf.define('p', F, ARGUMENTS);

const trace = (event: ProbeEvent): void => {
  const record = (hit: EventRecord): void => void hit.build();
  expect(event.use({ kind: 'trace', record })).toBeNull();
};

const LISTENERS: Readonly<Record<string, Listener>> = {
  function: {
    builds: 0,
    attach: ({ rig }) => void rig.attach(F, { entry: () => HandlerResult.Continue }),
  },
  'return function': {
    builds: 0,
    attach: ({ rig }) => void rig.attach(F, { return: () => {} }),
  },
  trace: { builds: 1, attach: (perf) => trace(define(perf)) },
  'two traces of one event': {
    builds: 1,
    attach: (perf) => {
      const event = define(perf);
      trace(event);
      trace(event);
    },
  },
  perf: { builds: 1, attach: (perf) => void perf.open(define(perf)) },
  'three perf events of one event': {
    builds: 1,
    attach: (perf) => {
      const event = define(perf);
      for (const samplePeriod of [0n, 1n, 2n]) perf.open(event, { samplePeriod });
    },
  },
  'perf, turned off': {
    builds: 1,
    attach: (perf) => void perf.open(define(perf), { flags: new Set(['disabled']) }),
  },
  'perf behind a program that says 0': {
    builds: 0,
    attach: (perf) => {
      perf.open(define(perf)).program = () => 0;
    },
  },
};

const names = Object.keys(LISTENERS);
const subsets = Array.from({ length: 1 << names.length }, (_, mask) =>
  names.filter((_name, index) => (mask >> index) & 1),
);

for (const engine of cpuEngines)
  describe(`engine ${engine.name}`, () => {
    it(`evaluates once for each event that wants it, in all ${subsets.length} combinations`, async (ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const factory = await engine.load();
      for (const subset of subsets) {
        const rig = new Rig({ factory, profile: 'k6.18', text: { '0x401000': '90 c3' } });
        const perf = new PerfRig(rig);
        for (const name of subset) LISTENERS[name]!.attach(perf);
        for (let i = 0; i < HITS; i++) rig.call(F);
        const expected = subset.reduce((sum, name) => sum + LISTENERS[name]!.builds, 0);
        expect([subset, perf.builds]).toEqual([subset, HITS * expected]);
        rig.dispose();
      }
    });

    it('brings an event back that was closed after a snapshot', async (ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const factory = await engine.load();
      const rig = new Rig({ factory, profile: 'k6.18', text: { '0x401000': '90 c3' } });
      const perf = new PerfRig(rig);
      const event = perf.open(define(perf));
      rig.call(F);
      const parts = [rig.kernel, rig.uprobes, perf.perf].map(
        (part) => [part, part.capture()] as const,
      );
      perf.perf.close(event);
      rig.call(F);
      expect([rig.bytes(F, 1), event.count]).toEqual(['90', 1]);
      for (const [part, state] of parts) part.restore(state);
      rig.call(F);
      expect([rig.bytes(F, 1), event.count]).toEqual(['cc', 2]);
      perf.perf.close(event);
      expect(rig.bytes(F, 1)).toBe('90');
      rig.dispose();
    });

    it('opens anew what was opened first after a snapshot', async (ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const factory = await engine.load();
      const rig = new Rig({ factory, profile: 'k6.18', text: { '0x401000': '90 c3' } });
      const perf = new PerfRig(rig);
      const source = define(perf);
      const parts = [rig.kernel, rig.uprobes, source, perf.perf].map(
        (part) => [part, part.capture()] as const,
      );
      perf.open(source);
      for (const [part, state] of parts) part.restore(state);
      const event = perf.open(source);
      rig.call(F);
      expect([rig.bytes(F, 1), event.count]).toEqual(['cc', 1]);
      rig.dispose();
    });

    it('lets an event serve a trace or perf, not both (EINTR)', async (ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
      const factory = await engine.load();
      const rig = new Rig({ factory, profile: 'k6.18', text: { '0x401000': '90 c3' } });
      const perf = new PerfRig(rig);
      const traced = define(perf);
      trace(traced);
      expect(() => perf.open(traced)).toThrow('EINTR');
      const counted = define(perf);
      const opened = perf.open(counted);
      expect(counted.use({ kind: 'trace', record: () => {} })?.errno).toBe('EINTR');
      perf.perf.close(opened);
      trace(counted);
      rig.dispose();
    });
  });
