/** Stack pointer, control and status words. */
import type { Fpu } from './fpu.ts';
import { none, type X87Action, type X87Input, type X87Table } from './instruction.ts';

const table: X87Table = {};

const stack =
  (change: (fpu: Fpu, input: X87Input) => void): X87Action =>
  (fpu, input) => {
    change(fpu, input);
    return none;
  };
table.Fincstp = {
  run: stack((fpu) => {
    fpu.top++;
    fpu.setC1(false);
  }),
};
table.Fdecstp = {
  run: stack((fpu) => {
    fpu.top--;
    fpu.setC1(false);
  }),
};
table.Ffree_sti = {
  run: stack((fpu, { i }) => {
    fpu.free(i);
    fpu.setC1(false);
  }),
};
table.Ffreep_sti = {
  run: stack((fpu, { i }) => {
    fpu.free(i);
    fpu.setC1(false);
    fpu.pop();
  }),
};
table.Fnop = { run: stack(() => {}) };
table.Wait = { run: stack(() => {}) };
table.Fldcw_m2byte = {
  run: stack((fpu, { memory }) => {
    fpu.controlWord = Number(memory);
  }),
  memory: 'in',
};
table.Fnclex = {
  run: stack((fpu) => {
    fpu.status &= 0x7f00;
  }),
  noWait: true,
};
table.Fninit = { run: stack((fpu) => fpu.reset()), noWait: true };
table.Fnstcw_m2byte = { run: (fpu) => BigInt(fpu.controlWord), memory: 'out', noWait: true };
table.Fnstsw_m2byte = { run: (fpu) => BigInt(fpu.status), memory: 'out', noWait: true };
// Set-ups of the 287 that mean nothing any more.
for (const name of ['Fneni', 'Fndisi', 'Fnsetpm'])
  table[name] = { run: stack(() => {}), noWait: true };

export const CONTROL_INSTRUCTIONS: Readonly<X87Table> = table;
