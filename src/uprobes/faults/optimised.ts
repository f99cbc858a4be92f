/** Mistakes of sites that become calls. */
import { PAGE_SIZE } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { OptimisedForm } from '../trampoline/forms.ts';
import { type Faults, optimises } from './fault.ts';
import { clobberFlags } from './handlers.ts';

/** Where the call's return address lies when system call 336 has come back. */
const RETURN_ADDRESS = 24n;

/** How far the red zone's protection is off, and where the site and the trampoline say how far. */
const SHIFT = 8;
const LEA_DISPLACEMENT = 4;
const RET_OPERAND = 0x12;

const shifted = (form: OptimisedForm): OptimisedForm => ({
  ...form,
  head: form.head.map((byte, index) => (index === LEA_DISPLACEMENT ? byte + SHIFT : byte)),
  spared: form.spared - BigInt(SHIFT),
});

export const OPTIMISED_FAULTS: Faults = {
  'optimised-return-off-by-one': {
    about: 'an optimised site returns one byte too far',
    shows: optimises,
    plant: ({ uprobeSyscall }) => ({
      uprobeSyscall(shared, task) {
        const result = uprobeSyscall(shared, task);
        const at = task.regs.read(Reg.Rsp) + RETURN_ADDRESS;
        const address = result === 0n ? task.mm.space.readU64(at) : undefined;
        if (address !== undefined) task.mm.space.writeU64(at, address + 1n);
        return result;
      },
    }),
  },
  'optimised-write-order': {
    about: 'byte 0 of a site becomes the call’s before the others do',
    shows: optimises,
    plant: ({ optimiseSteps }) => ({
      optimiseSteps: (form, bytes) =>
        [...optimiseSteps(form, bytes)]
          .reverse()
          .map((step) => ({ ...step, verify: () => 'write' })),
    }),
  },
  'optimised-flags-clobbered': {
    about: 'an optimised site does not keep the arithmetic flags',
    shows: optimises,
    plant: ({ uprobeSyscall }) => ({
      uprobeSyscall(shared, task) {
        const result = uprobeSyscall(shared, task);
        if (result === 0n) clobberFlags(task.regs);
        return result;
      },
    }),
  },
  'reach-page-too-far': {
    about: 'a trampoline one page out of reach is taken: rel32 overflows',
    shows: optimises,
    plant: ({ reach }) => ({ reach: reach + PAGE_SIZE }),
  },
  'nop-keeps-call-byte': {
    about: 'a site that becomes a nop again keeps byte 1 of its call',
    shows: optimises,
    plant: ({ unoptimiseSteps }) => ({
      unoptimiseSteps: (form, original) =>
        unoptimiseSteps(form, original).map((step) =>
          step.offset === 1 ? { ...step, offset: 2, bytes: step.bytes.slice(1) } : step,
        ),
    }),
  },
  'red-zone-shifted': {
    about: 'an optimised nop10 spares 120 bytes below sp instead of 128',
    shows: ({ optimise }) => optimise === 'nop10',
    plant: ({ forms, optimisedTrampoline }) => ({
      forms: { ...forms, nop10: shifted(forms.nop10) },
      optimisedTrampoline(profile) {
        const bytes = optimisedTrampoline(profile).slice();
        bytes[RET_OPERAND] = (bytes[RET_OPERAND] ?? 0) - SHIFT;
        return bytes;
      },
    }),
  },
};
