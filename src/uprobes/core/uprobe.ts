import type { Inode } from '../../memory/backing.ts';
import type { Accepted } from '../arch/analysis.ts';
import type { Consumer } from './consumer.ts';

/** One registration of a consumer. */
export interface Attachment {
  /** Unique and rising, so that a return instance can tell consumers apart. */
  readonly id: number;
  readonly consumer: Consumer;
  /** Return handlers of this consumer that were not armed or not run (`missed` in the trace). */
  missed: number;
}

/** One probed place: a file and an offset. There is one for all processes. */
export class Uprobe {
  readonly inode: Inode;
  readonly offset: bigint;
  /** File offset of the reference counter; 0 = none. */
  readonly refCtrOffset: bigint;
  /** Newest first. Replaced, never changed: a handler may detach while the list is walked. */
  attachments: readonly Attachment[] = [];
  /** Attached consumers + stable return instances + steps in progress. At 0 it leaves the registry. */
  references = 0;
  /** Null until a breakpoint is first to be written. */
  analysis: Accepted | null = null;
  /** An optimisation failed somewhere: it is never tried again, in no process. */
  optimiseFailed = false;

  constructor(inode: Inode, offset: bigint, refCtrOffset: bigint) {
    this.inode = inode;
    this.offset = offset;
    this.refCtrOffset = refCtrOffset;
  }
}

/** A handler that ran earlier in the walk over `walked` has detached it. */
export const isGone = (
  uprobe: Uprobe,
  walked: readonly Attachment[],
  attachment: Attachment,
): boolean => uprobe.attachments !== walked && !uprobe.attachments.includes(attachment);

/** Both handlers: entry and return of one call belong together and share a cookie. */
export const isSession = ({ consumer }: Attachment): boolean =>
  consumer.entry !== undefined && consumer.return !== undefined;
