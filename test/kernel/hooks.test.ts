import { describe, expect, it } from 'vitest';
import { Frame, SigContext, SigInfoLayout, UContext } from '../../src/abi/sigframe.ts';
import { Sa, SiCode, Sig } from '../../src/abi/signals.ts';
import { Sys } from '../../src/abi/syscalls.ts';
import { Reg } from '../../src/cpu/engine.ts';
import type { Task } from '../../src/kernel/task.ts';
import { type Bare, bare, HANDLER, RESTORER, STACK } from './bare.ts';
import { syscall } from './scripted-engine.ts';

const INT3 = { kind: 'int3', regs: { Rip: 0x401001n } } as const;
const DEBUG = { kind: 'debug', regs: { Rip: 0x401010n } } as const;
const END = { kind: 'unsupported', text: 'the end of the test' } as const;

const handle = (task: Task, signal: number): void =>
  task.actions.set(signal, {
    handler: HANDLER,
    flags: Sa.RESTORER | Sa.SIGINFO,
    restorer: RESTORER,
    mask: 0n,
  });

/** 64 bits of the frame on top of the stack. */
const frame = ({ task, mm }: Bare, offset: number): bigint | undefined =>
  mm.space.readU64(task.regs.read(Reg.Rsp) + BigInt(offset));

describe('trap hooks', () => {
  it('a swallowed breakpoint or debug trap is no signal, and later listeners do not hear of it', () => {
    const { kernel, task } = bare([INT3, DEBUG, END]);
    const heard: string[] = [];
    kernel.subscribe({
      breakpoint: () => heard.push('first') > 0,
      debugTrap: () => heard.push('debug') > 0,
    });
    kernel.subscribe({ breakpoint: () => heard.push('second') > 0 });
    expect(kernel.runSlice().kind).toBe('unsupported');
    expect(heard).toEqual(['first', 'debug']);
    expect(task.pending.mask).toBe(0n);
    expect(kernel.counters.traps).toMatchObject({ int3: 1, debug: 1 });
  });

  it('what nobody swallows becomes SIGTRAP', () => {
    const { kernel } = bare([INT3]);
    kernel.subscribe({ breakpoint: () => false });
    expect(kernel.runSlice()).toMatchObject({ reason: { kind: 'signal', signal: Sig.SIGTRAP } });
  });

  it('CD 03 is a breakpoint too', () => {
    const { kernel } = bare([{ kind: 'interrupt', vector: 3 }, END]);
    let hits = 0;
    kernel.subscribe({ breakpoint: () => ++hits > 0 });
    expect(kernel.runSlice().kind).toBe('unsupported');
    expect(hits).toBe(1);
  });

  it('ends with the subscription, also from inside the hook', () => {
    const { kernel } = bare([INT3, INT3]);
    let hits = 0;
    const end = kernel.subscribe({
      breakpoint: () => {
        end();
        return ++hits > 0;
      },
    });
    expect(kernel.runSlice()).toMatchObject({ kind: 'exited' });
    expect(hits).toBe(1);
  });
});

describe('the way back to user code', () => {
  it('runs returnToUser before signals, and again for as long as it is asked for', () => {
    const made = bare([INT3, END]);
    const { kernel, task } = made;
    handle(task, Sig.SIGUSR1);
    const seen: bigint[] = [];
    kernel.subscribe({
      breakpoint: (hit) => {
        hit.notifyResume = true;
        kernel.sendSignal(hit, { signal: Sig.SIGUSR1, code: SiCode.SI_USER });
        return true;
      },
      returnToUser: (hit) => {
        seen.push(hit.regs.read(Reg.Rip));
        hit.notifyResume = seen.length < 2;
        hit.regs.write(Reg.Rip, 0x402000n);
      },
    });
    kernel.runSlice();
    expect(seen).toEqual([0x401001n, 0x402000n]);
    expect(task.regs.read(Reg.Rip)).toBe(HANDLER);
    expect(frame(made, Frame.ucontext + UContext.mcontext + SigContext.ip)).toBe(0x402000n);
  });

  it('runs it for a system call as well', () => {
    const { kernel, task } = bare([syscall(335), END]);
    let calls = 0;
    kernel.claimSyscall(335, 'x', (caller) => {
      caller.notifyResume = true;
      return 0n;
    });
    kernel.subscribe({ returnToUser: () => calls++ });
    kernel.runSlice();
    expect(calls).toBe(1);
    expect(task.notifyResume).toBe(false);
  });

  it('holds signals back while a listener says so', () => {
    const { kernel, task } = bare([INT3, DEBUG, END]);
    handle(task, Sig.SIGUSR1);
    let stepping = true;
    const asked: boolean[] = [];
    kernel.subscribe({
      breakpoint: (hit) => {
        kernel.sendSignal(hit, { signal: Sig.SIGUSR1, code: SiCode.SI_USER });
        return true;
      },
      debugTrap: (hit) => {
        expect(hit.regs.read(Reg.Rip)).toBe(0x401010n);
        stepping = false;
        return true;
      },
      maySignal: (_, fatal) => {
        asked.push(fatal);
        return !stepping;
      },
    });
    kernel.runSlice();
    expect(asked).toEqual([false, false]);
    expect(task.regs.read(Reg.Rip)).toBe(HANDLER);
  });

  it('lets a listener that holds back clean up first (notifyResume), then delivers', () => {
    const { kernel, task } = bare([{ kind: 'invalid-opcode' }]);
    const order: string[] = [];
    let stepping = true;
    kernel.subscribe({
      maySignal: (hit) => {
        order.push(`may ${stepping}`);
        if (stepping) hit.notifyResume = true;
        return !stepping;
      },
      returnToUser: () => {
        order.push('abort');
        stepping = false;
      },
    });
    expect(kernel.runSlice()).toMatchObject({ reason: { signal: Sig.SIGILL } });
    expect(order).toEqual(['may true', 'abort', 'may false']);
    expect(task.exited).toBe(true);
  });

  it('does not hold back what ends the process', () => {
    const { kernel } = bare([INT3]);
    const asked: boolean[] = [];
    kernel.subscribe({
      breakpoint: (hit) => {
        kernel.sendSignal(hit, { signal: Sig.SIGTERM, code: SiCode.SI_USER });
        expect(kernel.fatalSignalPending(hit)).toBe(true);
        return true;
      },
      maySignal: (_, fatal) => asked.push(fatal) < 0,
    });
    expect(kernel.runSlice()).toMatchObject({ reason: { signal: Sig.SIGTERM } });
    expect(asked).toEqual([true]);
  });

  it('lets faultSignal rewrite the address and the trap number', () => {
    const made = bare([{ kind: 'divide-error', regs: { Rip: 0x7fffe080n } }, END]);
    const { kernel, task } = made;
    handle(task, Sig.SIGFPE);
    kernel.subscribe({
      faultSignal: (hit, info) => {
        expect(info).toEqual({ signal: Sig.SIGFPE, code: SiCode.FPE_INTDIV, address: 0x7fffe080n });
        expect(hit.trapNumber).toBe(0n);
        info.address = 0x401000n;
        hit.trapNumber = 99n;
      },
    });
    kernel.runSlice();
    expect(frame(made, Frame.siginfo + SigInfoLayout.address)).toBe(0x401000n);
    expect(frame(made, Frame.ucontext + UContext.mcontext + SigContext.trapno)).toBe(99n);
  });
});

describe('other hooks', () => {
  it('vmas are announced with their mm, exit with the registers still there', () => {
    const heard: string[] = [];
    const { kernel, mm, task } = bare([syscall(Sys.exit_group, 3n)]);
    kernel.subscribe({
      vmaMapped: (of, vma) => heard.push(`map ${of === mm} ${vma.start.toString(16)}`),
      vmaUnmapping: (of, start, end) => heard.push(`unmap ${of === mm} ${end - start}`),
      exit: (of) => heard.push(`exit ${of === task} ${of.exited} ${of.regs.read(Reg.Rdi)}`),
    });
    mm.space.map({ address: 0x600000n, placement: 'replace', size: 0x1000n, prot: 3 });
    mm.space.unmap(0x600000n, 0x1000n);
    kernel.runSlice();
    expect(heard).toEqual(['map true 600000', 'unmap true 4096', 'exit true false 3']);
    expect(kernel.tasks()).toEqual([]);
    expect(kernel.mms()).toEqual([]);
  });

  it('an exception of a listener comes out of runSlice, not through the engine', () => {
    const { kernel, engine } = bare([INT3]);
    kernel.subscribe({
      breakpoint: () => {
        throw new Error('from a listener');
      },
    });
    let returned = false;
    const run = engine.run.bind(engine);
    engine.run = (...args) => {
      run(...args);
      returned = true;
    };
    expect(() => kernel.runSlice()).toThrow('from a listener');
    expect(returned).toBe(true);
  });

  it('a page fault that memory resolves is nobody’s business', () => {
    const fault = { kind: 'page-fault', address: STACK + 0x10n, access: 'write' } as const;
    const { kernel, mm } = bare([fault, END]);
    kernel.subscribe({ faultSignal: () => expect.unreachable() });
    expect(kernel.runSlice().kind).toBe('unsupported');
    expect(mm.space.counters.faults).toBe(1);
  });
});
