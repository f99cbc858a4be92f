import { describe, expect, it } from 'vitest';
import { fail } from '../../src/abi/errno.ts';
import { Sys } from '../../src/abi/syscalls.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { SYSCALL_ROWS } from '../../src/kernel/syscalls/rows.ts';
import { block, full, refused, type WaitReason } from '../../src/kernel/syscalls/table.ts';
import { bare } from './bare.ts';
import { syscall } from './scripted-engine.ts';

const EXIT = syscall(Sys.exit_group, 0n);
const NOBODY = 9999;

describe('the table', () => {
  it('has every row once, under its own number', () => {
    const numbers = SYSCALL_ROWS.map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const { name, number } of SYSCALL_ROWS) expect(Sys[name as keyof typeof Sys]).toBe(number);
  });

  it('says of every row that is not full what is missing', () => {
    for (const { name, support, note } of SYSCALL_ROWS)
      if (support !== 'full') expect(note, name).toMatch(/\w/);
  });

  it('leaves 335 and 336 to whoever claims them', () => {
    expect(SYSCALL_ROWS.some(({ number }) => number === 335 || number === 336)).toBe(false);
  });
});

describe('dispatch', () => {
  it('answers ENOSYS to a number without a row and counts it', () => {
    const { kernel, task } = bare([syscall(NOBODY), syscall(NOBODY), syscall(Sys.pause)]);
    kernel.runSlice();
    expect(kernel.counters.unknownSyscalls).toEqual(new Map([[NOBODY, 2]]));
    expect(kernel.counters.syscalls.get(NOBODY)).toBe(2);
    expect(task.state.kind).toBe('sleeping');
  });

  it('takes the number from the low half of ax, as the kernel does', () => {
    const wide = syscall(Sys.exit_group, 7n);
    const regs = { ...wide.regs, Rax: (5n << 32n) | BigInt(Sys.exit_group) };
    const { kernel } = bare([{ ...wide, regs }]);
    expect(kernel.runSlice()).toEqual({ kind: 'exited', reason: { kind: 'exit', status: 7 } });
  });

  it('names a refused call once', () => {
    const row = refused('vfork', 'comes with processes');
    const { kernel, engine, log } = bare([syscall(Sys.vfork), syscall(Sys.vfork), EXIT], [row]);
    kernel.runSlice();
    expect(log).toEqual(['system call vfork (58) answers ENOSYS: comes with processes']);
    expect(kernel.counters.unknownSyscalls.size).toBe(0);
    expect(engine.runs).toBe(1);
  });

  it('gives a claimed number the result, or leaves the registers to the handler', () => {
    const { kernel, task, engine } = bare([syscall(335), syscall(336), EXIT]);
    const seen: bigint[] = [];
    kernel.claimSyscall(335, 'first', () => -71n);
    kernel.claimSyscall(336, 'second', ({ regs }) => {
      seen.push(BigInt.asIntN(64, regs.read(Reg.Rax)));
      regs.write(Reg.Rax, fail('ERESTARTSYS'));
      regs.write(Reg.Rip, 0x777n);
      return undefined;
    });
    kernel.subscribe({ exit: () => seen.push(task.regs.read(Reg.Rip)) });
    engine.add({ kind: 'int3' });
    kernel.runSlice();
    // A value of ax that looks like a restart code is the caller's own: nothing is rewound.
    expect(seen).toEqual([336n, 0x401002n]);
  });

  it('refuses two owners of one number', () => {
    const { kernel } = bare([]);
    kernel.claimSyscall(335, 'first', () => 0n);
    expect(() => kernel.claimSyscall(335, 'again', () => 0n)).toThrow(/335 \(again\)/);
    expect(() => kernel.claimSyscall(0, 'read', () => 0n)).toThrow(/0 \(read\)/);
  });
});

describe('a call that cannot finish', () => {
  const waits: (WaitReason | null)[] = [];
  const HOST: WaitReason = { kind: 'host', what: 'stdin' };

  it('leaves the slice, and the same row runs again without a second instruction', () => {
    let ready = false;
    waits.length = 0;
    const row = full('read', ({ waited }) => {
      waits.push(waited);
      return ready ? 42n : block(HOST);
    });
    const { kernel, task, engine } = bare([syscall(Sys.read)], [row]);
    expect(kernel.runSlice()).toEqual({ kind: 'waiting', reason: HOST });
    expect(kernel.runSlice()).toEqual({ kind: 'waiting', reason: HOST });
    ready = true;
    engine.add({ kind: 'unsupported', text: 'the end of the test' });
    kernel.runSlice();
    expect(waits).toEqual([null, HOST, HOST]);
    expect(task.regs.read(Reg.Rax)).toBe(42n);
    expect(kernel.counters.syscalls.get(Sys.read)).toBe(1);
    expect(kernel.counters.traps.syscall).toBe(1);
  });

  it('sleeps by moving the clock when nobody else can run', () => {
    const until = 5_000_000_000n;
    const row = full('nanosleep', ({ kernel }) =>
      kernel.now() >= until ? 0n : block({ kind: 'until', timeNs: until }),
    );
    const { kernel } = bare([syscall(Sys.nanosleep), EXIT], [row]);
    expect(kernel.runSlice().kind).toBe('exited');
    // One more instruction ran afterwards: exit_group.
    expect(kernel.now()).toBe(until + 1n);
  });
});
