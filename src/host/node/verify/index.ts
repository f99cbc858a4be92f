/** Asks this machine's own kernel: the program with its probes, run natively. */
export { kernelRelease, whyNotHere } from './here.ts';
export type { NativeProgram } from './native-run.ts';
export { type NativeRun, verifyNatively } from './verify.ts';
