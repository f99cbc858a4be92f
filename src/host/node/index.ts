/**
 * The Node door: everything that touches the host. The library itself (`trapline`) touches nothing.
 *
 * @packageDocumentation
 */
export { enginesThatCan } from '../../cpu/alternatives.ts';
export { loadEngine } from './engines.ts';
export { ProcessInput } from './input.ts';
export { SharedOutput } from './output.ts';
export { hostMount, hostProgram, hostRoot } from './program.ts';
export { type ProcessStdio, processStdio } from './stdio.ts';
export { HostTree } from './tree.ts';
