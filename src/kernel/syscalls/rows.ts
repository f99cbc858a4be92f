import type { SyscallRow } from './table.ts';

/** Every system call there is, one array a subject. */
export const SYSCALL_ROWS: readonly SyscallRow[] = [];
