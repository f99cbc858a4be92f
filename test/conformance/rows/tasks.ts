/** Several tasks in one mm. There are no threads yet: these are processes as clone(CLONE_VM) makes them. */
import { expect } from 'vitest';
import { Prot, Reg } from '../../../src/cpu/engine.ts';
import type { Handle } from '../../../src/uprobes/index.ts';
import { END, type Rig, STACK_TOP } from '../../uprobes/rig.ts';
import { counting } from '../registers.ts';
import type { Rows } from '../row.ts';

const F = 0x401000n;
const LOOP = 0x401100n;
const COUNTER = 0x3000n;
const DATA = 0x20000000n;
const ROUNDS = 40n;

/** Lets every task run the loop, each on its own stack. */
const startAll = (rig: Rig): void => {
  [...rig.kernel.tasks()].forEach((task, index) => {
    rig.kernel.makeCurrent(task);
    const sp = STACK_TOP - 0x100n - BigInt(index) * 0x1000n;
    rig.mm.space.writeU64(sp, END);
    task.regs.write(Reg.Rsp, sp);
    task.regs.write(Reg.Rbx, ROUNDS);
    task.regs.write(Reg.Rip, LOOP);
    task.state = { kind: 'running' };
  });
};

const isRunning = (rig: Rig): boolean =>
  rig.kernel.tasks().some(({ state }) => state.kind === 'running');

const rows: Rows = [
  {
    id: 'C12',
    what: 'two tasks of one mm in a probed loop, switched every 1 to 9 instructions; between them the probe comes and goes',
    from: 'self-test uprobe_syscall (race), on one CPU',
    run(trial) {
      for (let slice = 1; slice <= 9; slice++) {
        const rig = trial.rig({
          '0x401000': `${trial.nop.hex} c3`,
          '0x401100': 'e8 fb fe ff ff ff cb 75 f7 c3', // 1: call F; dec %ebx; jnz 1b; ret
        });
        rig.map(DATA, Prot.Read | Prot.Write);
        rig.addTask();
        startAll(rig);
        let handle: Handle | null = null;
        let slices = 0;
        while (isRunning(rig) && slices++ < 5000) {
          rig.kernel.runSlice({ instructions: slice });
          if (handle === null)
            handle = rig.attach(F, counting({ count: 0 }), { refCtrOffset: COUNTER });
          else {
            rig.uprobes.unregister(handle);
            handle = null;
          }
        }
        if (handle !== null) rig.uprobes.unregister(handle);
        expect(isRunning(rig)).toBe(false);
        expect(
          rig.kernel.tasks().map((task) => {
            rig.kernel.makeCurrent(task);
            return [task.regs.read(Reg.Rip), task.regs.read(Reg.Rbx)];
          }),
        ).toEqual([
          [END + 1n, 0n],
          [END + 1n, 0n],
        ]);
        expect(rig.bytes(DATA + COUNTER, 2)).toBe('0000');
      }
    },
  },
  {
    id: 'C15',
    what: 'an optimised site, hit by a second task of the same mm',
    from: 'self-test uprobe_syscall (CLONE_VM)',
    applies: ({ optimise }) => optimise !== 'none',
    run(trial) {
      const rig = trial.rig({ '0x401000': `${trial.nop.hex} c3` });
      const hits = { count: 0 };
      rig.attach(F, counting(hits));
      rig.call(F);
      rig.call(F);
      rig.task = rig.addTask();
      expect(rig.call(F)).toEqual({ kind: 'returned' });
      expect(hits.count).toBe(3);
      expect(rig.uprobes.counters.optimisedHits).toBe(2);
    },
  },
  {
    id: 'C78',
    what: '32 threads in the middle of a step: the 32nd waits for a slot',
    later: 'threads: a task has to sleep outside of a system call',
  },
];

export default rows;
