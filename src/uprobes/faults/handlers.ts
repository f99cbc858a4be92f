/** Mistakes on the way to the handlers and in return probes. */
import { Flag } from '../../abi/traps.ts';
import { u64 } from '../../base/bytes.ts';
import { Reg, type RegisterFile } from '../../cpu/engine.ts';
import type { ReturnInstance } from '../core/return-instances.ts';
import { type Faults, hasReturnSyscall } from './fault.ts';

const ARITHMETIC = Flag.CF | Flag.PF | Flag.AF | Flag.ZF | Flag.SF | Flag.OF;

/** Leaves the flags of `xor %eax,%eax`. */
export const clobberFlags = (regs: RegisterFile): void =>
  regs.write(Reg.Rflags, (regs.read(Reg.Rflags) & ~ARITHMETIC) | Flag.ZF | Flag.PF);

/** Offset and bytes of `pop %rcx; pop %r11` in the return trampoline, the wrong way round. */
const POPS_AT = 0x0d;
const POPS_SWAPPED = [0x59, 0x41, 0x5b];

/** Gives the newest chain's instances to one another, so that the oldest is called first. */
const reverseNewestChain = (instances: ReturnInstance[]): void => {
  let start = instances.length - 1;
  while (start > 0 && instances[start]?.chained === true) start--;
  const chain = instances.splice(start);
  const links = chain.map(({ chained }) => chained);
  instances.push(
    ...chain.reverse().map((instance, index) => ({ ...instance, chained: links[index] ?? false })),
  );
};

const TOO_SMALL_DEPTH = 63;

export const HANDLER_FAULTS: Faults = {
  'flags-clobbered': {
    about: 'arithmetic flags do not survive the handlers of an int3 hit',
    plant: ({ runEntryHandlers }) => ({
      runEntryHandlers(shared, task, uprobe, site, via) {
        runEntryHandlers(shared, task, uprobe, site, via);
        if (via === 'int3') clobberFlags(task.regs);
      },
    }),
  },
  'return-pops-swapped': {
    about: 'the return trampoline pops cx and r11 the wrong way round',
    shows: hasReturnSyscall,
    plant: ({ returnTrampoline }) => ({
      returnTrampoline(profile) {
        const bytes = returnTrampoline(profile).slice();
        if (bytes.length > POPS_AT) bytes.set(POPS_SWAPPED, POPS_AT);
        return bytes;
      },
    }),
  },
  'return-ax-lost': {
    about: 'system call 335 answers 0 instead of the function’s value',
    shows: hasReturnSyscall,
    plant: ({ uretprobeSyscall }) => ({
      uretprobeSyscall: (shared, task) =>
        uretprobeSyscall(shared, task) === undefined ? undefined : 0n,
    }),
  },
  'chain-reversed': {
    about: 'a chain of tail calls returns oldest first',
    plant: ({ handleTrampoline }) => ({
      handleTrampoline(shared, task, via) {
        const taskState = shared.findTaskState(task);
        if (taskState !== undefined && taskState.instances.length > 0)
          reverseNewestChain(taskState.instances);
        handleTrampoline(shared, task, via);
      },
    }),
  },
  'depth-63': {
    about: 'a task may have 63 pending returns instead of 64',
    plant: ({ arm }) => ({
      arm: (shared, task, instance) =>
        shared.taskState(task).instances.length < TOO_SMALL_DEPTH && arm(shared, task, instance),
    }),
  },
  'alive-strictly-below': {
    about: 'the longjmp rule takes a frame at sp itself for left: < instead of <=',
    plant: () => ({ isAlive: (instance, sp) => sp < instance.stack }),
  },
  'ret-imm16-ignored': {
    about: 'a return is taken to leave sp 8 above the return address, whatever ret popped',
    plant: ({ handleTrampoline }) => ({
      handleTrampoline(shared, task, via) {
        const newest = shared.findTaskState(task)?.instances.at(-1);
        if (newest !== undefined) task.regs.write(Reg.Rsp, u64(newest.stack + 8n));
        handleTrampoline(shared, task, via);
      },
    }),
  },
};
