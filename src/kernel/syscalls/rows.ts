import { CHANGE_ROWS } from './changes.ts';
import { COPYING_ROWS } from './copying.ts';
import { DESCRIPTOR_ROWS } from './descriptors.ts';
import { DIRECTORY_ROWS } from './directories.ts';
import { FILE_ATTRIBUTE_ROWS } from './file-attributes.ts';
import { FILE_TIME_ROWS } from './file-times.ts';
import { FUTEX_ROWS } from './futex.ts';
import { ID_ROWS } from './ids.ts';
import { IOCTL_ROWS } from './ioctl.ts';
import { LIMIT_ROWS } from './limits.ts';
import { MEMORY_ROWS } from './memory.ts';
import { MEMORY_ADVICE_ROWS } from './memory-advice.ts';
import { MMAP_ROWS } from './mmap.ts';
import { OPEN_ROWS } from './open.ts';
import { PIPE_ROWS } from './pipes.ts';
import { POLL_ROWS } from './poll.ts';
import { PRCTL_ROWS } from './prctl.ts';
import { RANDOM_ROWS } from './random.ts';
import { READ_WRITE_ROWS } from './read-write.ts';
import { REFUSED_ROWS } from './refused.ts';
import { SCHEDULING_ROWS } from './scheduling.ts';
import { SELECT_ROWS } from './select.ts';
import { SIGNAL_SENDING_ROWS } from './signal-sending.ts';
import { SIGNAL_WAITING_ROWS } from './signal-waiting.ts';
import { SIGNAL_ROWS } from './signals.ts';
import { STAT_ROWS } from './stat.ts';
import { SYSTEM_ROWS } from './system.ts';
import type { SyscallRow } from './table.ts';
import { THREAD_ROWS } from './thread.ts';
import { TIME_ROWS } from './time.ts';

/** Every system call there is, in the order of their numbers. */
export const SYSCALL_ROWS: readonly SyscallRow[] = [
  CHANGE_ROWS,
  COPYING_ROWS,
  DESCRIPTOR_ROWS,
  DIRECTORY_ROWS,
  FILE_ATTRIBUTE_ROWS,
  FILE_TIME_ROWS,
  FUTEX_ROWS,
  ID_ROWS,
  IOCTL_ROWS,
  LIMIT_ROWS,
  MEMORY_ADVICE_ROWS,
  MEMORY_ROWS,
  MMAP_ROWS,
  OPEN_ROWS,
  PIPE_ROWS,
  POLL_ROWS,
  PRCTL_ROWS,
  RANDOM_ROWS,
  READ_WRITE_ROWS,
  REFUSED_ROWS,
  SCHEDULING_ROWS,
  SELECT_ROWS,
  SIGNAL_ROWS,
  SIGNAL_SENDING_ROWS,
  SIGNAL_WAITING_ROWS,
  STAT_ROWS,
  SYSTEM_ROWS,
  THREAD_ROWS,
  TIME_ROWS,
]
  .flat()
  .sort((a, b) => a.number - b.number);
