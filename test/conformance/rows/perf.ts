/** perf events on uprobes: who is asked before a hit is looked at. */
import { expect } from 'vitest';
import { PerfRig } from '../../consumers/perf/perf-rig.ts';
import type { Rows } from '../row.ts';

const F = 0x401000n;
const ARGUMENTS = '+0(%sp):u64 %di:u32';
const RULE = 'the order of the kernel’s dispatcher, derived';

const rows: Rows = [
  {
    id: 'C18b',
    what: 'a perf event of another process: the site is untouched; one of this process puts the breakpoint, and takes it along',
    from: 'the kernel’s filter rule, derived',
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3' });
      const perf = new PerfRig(rig);
      const event = perf.define('p', F);
      const elsewhere = rig.kernel.createProcess(rig.kernel.createMm(), {
        image: {
          entry: 0n,
          stackPointer: 0n,
          brkStart: 0x600000n,
          exe: rig.file,
          auxv: new Uint8Array(0),
        },
        files: rig.task.files,
        comm: 'other',
      });
      elsewhere.state = { kind: 'stopped', signal: 0 };
      const other = perf.open(event, {}, elsewhere);
      rig.call(F);
      expect([rig.bytes(F, 1), other.count, perf.builds]).toEqual(['90', 0, 0]);
      const mine = perf.open(event, {}, rig.task);
      expect(rig.bytes(F, 1)).toBe('cc');
      rig.call(F);
      expect([mine.count, other.count]).toEqual([1, 0]);
      perf.perf.close(mine);
      expect(rig.bytes(F, 1)).toBe('90');
    },
  },
  {
    id: 'C95',
    what: 'a program on a perf event that answers 0: no sample, no count, no argument evaluated; 1: evaluated once',
    from: RULE,
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3', '0x401010': '90 c3' });
      const perf = new PerfRig(rig);
      for (const [letter, address] of [
        ['p', F],
        ['r', F + 16n],
      ] as const) {
        const event = perf.open(perf.define(letter, address, ARGUMENTS), { samplePeriod: 1n });
        const samples: Uint8Array[] = [];
        event.listener = (bytes) => samples.push(bytes.slice());
        const before = perf.builds;
        let answer = 0;
        let asked = 0;
        event.program = () => {
          asked++;
          return answer;
        };
        rig.call(address);
        expect([asked, event.count, samples.length, perf.builds - before]).toEqual([1, 0, 0, 0]);
        answer = 1;
        rig.call(address);
        expect([asked, event.count, samples.length, perf.builds - before]).toEqual([2, 1, 1, 1]);
      }
    },
  },
];

export default rows;
