/**
 * The door for tests and the fuzzer to the uprobe layer of a machine: `uprobes/testing.ts` says what
 * can be done there. Nothing else imports it.
 */
export { uprobesBehind } from './machine.ts';
