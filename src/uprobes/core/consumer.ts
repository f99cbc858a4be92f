import type { RegisterFile } from '../../cpu/engine.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Task } from '../../kernel/task.ts';

/** How a hit reached the kernel. */
export type Via = 'int3' | 'uprobe-syscall' | 'uretprobe-int3' | 'uretprobe-syscall';

/** What an entry handler answers (spec section 0). */
export const HandlerResult = { Continue: 0, Remove: 1, Ignore: 2 } as const;
export type HandlerResult = (typeof HandlerResult)[keyof typeof HandlerResult];

/** The 8-byte cell a session consumer shares between entry and return of one call. */
export interface Cookie {
  value: bigint;
}

/**
 * What a handler sees. One object per machine, overwritten by the next hit: copy what must outlive
 * the call. Registers may be changed; changes stick.
 */
export interface Hit {
  task: Task;
  /** Entry: state before the probed instruction, ip = site. Return: ip = original return address. */
  regs: RegisterFile;
  /** Address of the probed instruction in this mm (for returns: of the function). */
  site: bigint;
  via: Via;
  /** Session consumers (both handlers): their cell. Null for return-only consumers. */
  cookie: Cookie | null;
}

/** Who is called. At least one handler is required (EINVAL otherwise). */
export interface Consumer {
  /** Absent = Continue. */
  entry?(hit: Hit): HandlerResult;
  return?(hit: Hit): void;
  /** Whether the probe is wanted in this mm; absent = everywhere. Does not gate handler calls. */
  filter?(mm: Mm): boolean;
}
