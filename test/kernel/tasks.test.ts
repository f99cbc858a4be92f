import { describe, expect, it } from 'vitest';
import { Sig, sigBit } from '../../src/abi/signals.ts';
import { Sys } from '../../src/abi/syscalls.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { block, full } from '../../src/kernel/syscalls/table.ts';
import { addProcess, bare, SCRATCH } from './bare.ts';
import { syscall } from './scripted-engine.ts';

const END = { kind: 'unsupported', text: 'the end of the test' } as const;

describe('a slice', () => {
  it('ends with its budget and goes on in the next', () => {
    const { kernel, engine } = bare([syscall(Sys.getpid), syscall(Sys.getpid), END]);
    expect(kernel.runSlice({ instructions: 2 })).toEqual({ kind: 'budget' });
    expect(kernel.instructions()).toBe(2);
    expect(kernel.runSlice({ instructions: 2 }).kind).toBe('unsupported');
    expect(engine.runs).toBe(2);
  });

  it('names the instruction the engine lacks', () => {
    const { kernel } = bare([{ kind: 'unsupported', text: 'vaddpd', regs: { Rip: 0x401234n } }]);
    expect(kernel.runSlice()).toEqual({ kind: 'unsupported', address: 0x401234n, text: 'vaddpd' });
  });

  it('starts a program with clean registers', () => {
    const { task } = bare([]);
    const fx = new Uint8Array(512);
    task.regs.readFx(fx);
    // FNINIT's control word and the default of MXCSR (SDM vol. 1, 8.1.5 and 10.2.3).
    expect([fx[0], fx[1], fx[24], fx[25]]).toEqual([0x7f, 0x03, 0x80, 0x1f]);
    expect(task.regs.read(Reg.Rflags)).toBe(0x202n);
    expect(task.regs.read(Reg.Rdx)).toBe(0n);
  });
});

describe('several tasks', () => {
  it('each keeps its registers on a shared engine, and only a change costs', () => {
    const row = full('read', () => block({ kind: 'host', what: 'stdin' }));
    const { kernel, mm, task, engine } = bare([syscall(Sys.read)], [row]);
    const other = addProcess(kernel, mm, 1001);
    engine.add(END);
    task.regs.write(Reg.Rbx, 0xbbn);
    const before = kernel.counters.contextSwitches;
    expect(other.context).toBeNull();
    // `other` was made last and is loaded; round robin begins with the oldest.
    expect(kernel.runSlice().kind).toBe('unsupported');
    expect(task.state.kind).toBe('sleeping');
    expect(mm.loaded).toBe(other);
    expect(kernel.counters.contextSwitches - before).toBe(2);
    expect(task.context).not.toBeNull();
  });

  it('run in the order of their creation, one mm an engine', () => {
    const { kernel, task } = bare([syscall(Sys.exit_group, 5n)]);
    expect(kernel.tasks()).toEqual([task]);
    expect(task.tid).toBe(1000);
    expect(task.tgid).toBe(1000);
    // The first process decides how the run ended.
    expect(kernel.runSlice()).toEqual({ kind: 'exited', reason: { kind: 'exit', status: 5 } });
  });
});

describe('capture and restore', () => {
  it('brings back memory, registers, signals, clock, random numbers and counters', () => {
    const { kernel, engine, task, mm } = bare([syscall(Sys.getpid), END]);
    kernel.runSlice();
    task.blocked = sigBit(Sig.SIGUSR1);
    kernel.sendSignal(task, { signal: Sig.SIGUSR1, code: 0 });
    task.regs.write(Reg.Rbx, 0x1234n);
    mm.space.writeU64(SCRATCH, 77n);
    kernel.clock.skipTo(1000n);
    const state = kernel.capture();
    const drawn = [kernel.random.next(), kernel.random.next()];
    const counted = kernel.counters.capture();

    engine.add(syscall(Sys.exit_group, 1n));
    task.blocked = sigBit(Sig.SIGUSR1) | sigBit(Sig.SIGUSR2);
    mm.space.writeU64(SCRATCH, 78n);
    expect(kernel.runSlice()).toMatchObject({ kind: 'exited', reason: { status: 1 } });
    expect(kernel.tasks()).toEqual([]);

    kernel.restore(state);
    expect(kernel.tasks()).toEqual([task]);
    expect(kernel.mms()).toEqual([mm]);
    expect(task.exited).toBe(false);
    expect(task.group.exit).toBeNull();
    expect(task.pending.mask).toBe(sigBit(Sig.SIGUSR1));
    expect(task.blocked).toBe(sigBit(Sig.SIGUSR1));
    expect(task.regs.read(Reg.Rbx)).toBe(0x1234n);
    expect(mm.space.readU64(SCRATCH)).toBe(77n);
    expect(kernel.now()).toBe(1000n);
    expect([kernel.random.next(), kernel.random.next()]).toEqual(drawn);
    expect(kernel.counters.capture()).toEqual(counted);
    engine.add(syscall(Sys.exit_group, 2n));
    expect(kernel.runSlice()).toMatchObject({ reason: { status: 2 } });
  });
});
