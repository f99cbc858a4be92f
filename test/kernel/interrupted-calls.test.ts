import { describe, expect, it } from 'vitest';
import { fail } from '../../src/abi/errno.ts';
import { Frame, SigContext, UContext } from '../../src/abi/sigframe.ts';
import { Sa, SIG_IGN, Sig, sigBit } from '../../src/abi/signals.ts';
import { Sys } from '../../src/abi/syscalls.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { block, full, type Interrupted } from '../../src/kernel/syscalls/table.ts';
import type { Task } from '../../src/kernel/task.ts';
import { type Bare, bare, HANDLER, RESTORER, SCRATCH } from './bare.ts';
import { AFTER, syscall } from './scripted-engine.ts';

/** A read that never finishes, answering as `interrupted` says. */
const sleeping = (interrupted: Interrupted): Bare => {
  const made = bare(
    [syscall(Sys.read)],
    [full('read', () => block({ kind: 'host', what: 'stdin' }, interrupted))],
  );
  expect(made.kernel.runSlice().kind).toBe('waiting');
  return made;
};

const handle = (task: Task, signal: number, flags = 0n): void =>
  task.actions.set(signal, {
    handler: HANDLER,
    flags: flags | Sa.RESTORER,
    restorer: RESTORER,
    mask: 0n,
  });

/** A saved register in the frame the handler was entered with. */
const saved = ({ task, mm }: Bare, offset: number): bigint | undefined =>
  mm.space.readU64(task.regs.read(Reg.Rsp) + BigInt(Frame.ucontext + UContext.mcontext + offset));

const END = { kind: 'unsupported', text: 'the end of the test' } as const;

describe('a signal while a call sleeps (signal(7), "Interruption of system calls")', () => {
  it.each([
    // code, SA_RESTART, expected ax, expected ip in the frame
    ['ERESTARTSYS', 0n, fail('EINTR'), AFTER],
    ['ERESTARTSYS', Sa.RESTART, BigInt(Sys.read), AFTER - 2n],
    ['ERESTARTNOHAND', Sa.RESTART, fail('EINTR'), AFTER],
    ['EINTR', Sa.RESTART, fail('EINTR'), AFTER],
  ] as const)('%s with flags %s', (interrupted, flags, ax, ip) => {
    const made = sleeping(interrupted);
    handle(made.task, Sig.SIGINT, flags);
    made.engine.add(END);
    made.kernel.interrupt();
    made.kernel.runSlice();
    expect(made.task.regs.read(Reg.Rip)).toBe(HANDLER);
    expect(made.task.regs.read(Reg.Rdi)).toBe(BigInt(Sig.SIGINT));
    expect(saved(made, SigContext.ax)).toBe(BigInt.asUintN(64, ax));
    expect(saved(made, SigContext.ip)).toBe(ip);
  });

  it('is the end without a handler', () => {
    const { kernel } = sleeping('ERESTARTSYS');
    kernel.interrupt();
    expect(kernel.runSlice()).toEqual({
      kind: 'exited',
      reason: { kind: 'signal', signal: Sig.SIGINT, coreDumped: false },
    });
    expect(kernel.counters.signals).toEqual(new Map([[Sig.SIGINT, 1]]));
  });

  it('is not noticed when ignored or blocked', () => {
    const { kernel, task } = sleeping('ERESTARTSYS');
    task.actions.set(Sig.SIGINT, { handler: SIG_IGN, flags: 0n, restorer: 0n, mask: 0n });
    kernel.interrupt();
    expect(kernel.runSlice().kind).toBe('waiting');
    expect(task.pending.mask | task.group.pending.mask).toBe(0n);
    task.blocked = sigBit(Sig.SIGUSR1);
    kernel.sendSignal(task, { signal: Sig.SIGUSR1, code: 0 });
    expect(kernel.runSlice().kind).toBe('waiting');
    expect(task.pending.mask).toBe(sigBit(Sig.SIGUSR1));
  });

  it('that only stops it lets it start over when it continues', () => {
    const { kernel, task, engine } = sleeping('ERESTARTSYS');
    kernel.sendSignal(task, { signal: Sig.SIGTSTP, code: 0 });
    expect(kernel.runSlice()).toEqual({ kind: 'stopped', signal: Sig.SIGTSTP });
    kernel.sendSignal(task, { signal: Sig.SIGCONT, code: 0 });
    engine.add(END);
    kernel.runSlice();
    expect(task.regs.read(Reg.Rip)).toBe(AFTER - 2n);
    expect(task.regs.read(Reg.Rax)).toBe(BigInt(Sys.read));
  });

  it('ends a stopped process if it is SIGKILL', () => {
    const { kernel, task } = sleeping('ERESTARTSYS');
    kernel.sendSignal(task, { signal: Sig.SIGSTOP, code: 0 });
    expect(kernel.runSlice().kind).toBe('stopped');
    kernel.sendSignal(task, { signal: Sig.SIGKILL, code: 0 });
    expect(kernel.runSlice()).toMatchObject({ kind: 'exited', reason: { signal: Sig.SIGKILL } });
  });
});

describe('waiting for signals', () => {
  it('rt_sigsuspend swaps the mask until a handler runs', () => {
    const made = bare([syscall(Sys.rt_sigsuspend, SCRATCH, 8n)]);
    const { kernel, task, engine, mm } = made;
    mm.space.writeU64(SCRATCH, sigBit(Sig.SIGUSR2));
    task.blocked = sigBit(Sig.SIGUSR1);
    handle(task, Sig.SIGUSR1);
    expect(kernel.runSlice()).toEqual({ kind: 'waiting', reason: { kind: 'signal' } });
    expect(task.blocked).toBe(sigBit(Sig.SIGUSR2));
    kernel.sendSignal(task, { signal: Sig.SIGUSR1, code: 0 });
    engine.add(END);
    kernel.runSlice();
    expect(saved(made, SigContext.ax)).toBe(BigInt.asUintN(64, fail('EINTR')));
    expect(saved(made, SigContext.oldmask)).toBe(sigBit(Sig.SIGUSR1));
    expect(task.blocked).toBe(sigBit(Sig.SIGUSR2) | sigBit(Sig.SIGUSR1));
  });

  it('rt_sigtimedwait takes a signal that comes while it sleeps, handler or not', () => {
    const { kernel, task, engine, mm } = bare([syscall(Sys.rt_sigtimedwait, SCRATCH, 0n, 0n, 8n)]);
    mm.space.writeU64(SCRATCH, sigBit(Sig.SIGUSR1));
    handle(task, Sig.SIGUSR1);
    expect(kernel.runSlice().kind).toBe('waiting');
    kernel.sendSignal(task, { signal: Sig.SIGUSR1, code: 0 });
    engine.add(END);
    kernel.runSlice();
    expect(task.regs.read(Reg.Rax)).toBe(BigInt(Sig.SIGUSR1));
    expect(task.regs.read(Reg.Rip)).toBe(AFTER);
  });

  it('rt_sigtimedwait gives up at its time', () => {
    const { kernel, task, engine, mm } = bare([
      syscall(Sys.rt_sigtimedwait, SCRATCH, 0n, SCRATCH + 8n, 8n),
      END,
    ]);
    mm.space.writeU64(SCRATCH, sigBit(Sig.SIGUSR1));
    mm.space.writeU64(SCRATCH + 8n, 3n);
    kernel.runSlice();
    expect(BigInt.asIntN(64, task.regs.read(Reg.Rax))).toBe(fail('EAGAIN'));
    // Three seconds from the first instruction, and the one after.
    expect(kernel.now()).toBe(3_000_000_002n);
    expect(engine.runs).toBe(2);
  });

  it('rt_sigtimedwait is interrupted by another signal', () => {
    const made = bare([syscall(Sys.rt_sigtimedwait, SCRATCH, 0n, 0n, 8n)]);
    const { kernel, task, engine, mm } = made;
    mm.space.writeU64(SCRATCH, sigBit(Sig.SIGUSR1));
    handle(task, Sig.SIGUSR2, Sa.RESTART);
    expect(kernel.runSlice().kind).toBe('waiting');
    kernel.sendSignal(task, { signal: Sig.SIGUSR2, code: 0 });
    engine.add(END);
    kernel.runSlice();
    expect(saved(made, SigContext.ax)).toBe(BigInt.asUintN(64, fail('EINTR')));
  });
});
