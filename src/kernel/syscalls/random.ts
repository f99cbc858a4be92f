import { least } from '../../base/bytes.ts';
import { answering } from './answer.ts';
import { asUint, partial, type SyscallRow } from './table.ts';
import { CHUNK } from './transfer.ts';
import { MAX_RW_COUNT, userRange } from './user-buffer.ts';

const GRND_RANDOM = 2;
const GRND_INSECURE = 4;
const KNOWN = 7;

const getrandom = answering(({ kernel, space }, [address, count, flagsArg]) => {
  const flags = asUint(flagsArg);
  const both = GRND_RANDOM | GRND_INSECURE;
  if ((flags & ~KNOWN) !== 0 || (flags & both) === both) return 'EINVAL';
  // import_ubuf cuts the length before it looks at the range; read(2) does not.
  const buffer = userRange(space, address, least(count, BigInt(MAX_RW_COUNT)));
  if (typeof buffer === 'string') return buffer;
  const bytes = new Uint8Array(Math.min(CHUNK, buffer.length));
  let done = 0;
  while (done < buffer.length) {
    const part = bytes.subarray(0, Math.min(bytes.length, buffer.length - done));
    kernel.random.fill(part);
    const copied = buffer.scatter(done, part);
    done += copied;
    if (copied < part.length) return done > 0 ? done : 'EFAULT';
  }
  return done;
});

export const RANDOM_ROWS: readonly SyscallRow[] = [
  partial('getrandom', 'the bytes follow from the machine’s seed', getrandom),
];
