/** The system calls a case may make: those that leave nothing behind. */
import { SYSCALL_ROWS } from '../../kernel/syscalls/rows.ts';

const HARMLESS: ReadonlySet<string> = new Set([
  'getpid',
  'gettid',
  'getppid',
  'getuid',
  'rt_sigreturn',
]);

/** All others answer ENOSYS. */
export const GUEST_SYSCALLS = SYSCALL_ROWS.filter(({ name }) => HARMLESS.has(name));
