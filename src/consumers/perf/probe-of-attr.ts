/** The probe that an attribute of the uprobe PMU describes (perf_uprobe_init). */
import type { ErrnoName } from '../../abi/errno.ts';
import { nameFromBytes, PATH_MAX } from '../../kernel/files/names.ts';
import type { Task } from '../../kernel/task.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import type { Inode } from '../../memory/backing.ts';
import { type EventContext, LOCAL_ID, ProbeEvent } from '../event/event.ts';
import type { PerfAttr } from './attr.ts';

/** strndup_user, whose EINVAL for a long string becomes E2BIG. */
const pathAt = (space: AddressSpace, address: bigint): { path: string } | ErrnoName => {
  if (address === 0n) return 'EINVAL';
  const bytes = space.readString(address, PATH_MAX);
  if (bytes !== undefined) return bytes.length === 0 ? 'EINVAL' : { path: nameFromBytes(bytes) };
  const whole = new Uint8Array(PATH_MAX);
  return space.read(address, whole) === PATH_MAX ? 'E2BIG' : 'EFAULT';
};

const fileAt = ({ files }: Task, path: string): Inode | ErrnoName => {
  const place = files.view.find(files.cwd, path);
  if (typeof place === 'string') return place;
  if (place.attributes.kind !== 'file') return 'EINVAL';
  return files.view.inode(place.path);
};

/** A private event: no name, no arguments, one probe. */
export const localEvent = (
  context: EventContext,
  task: Task,
  { config, config1, config2 }: PerfAttr,
): ProbeEvent | ErrnoName => {
  const found = pathAt(task.mm.space, config1);
  if (typeof found === 'string') return found;
  const { path } = found;
  const inode = fileAt(task, path);
  if (typeof inode === 'string') return inode;
  const kind = (config & 1n) === 0n ? 'entry' : 'return';
  const definition = {
    kind,
    group: '',
    event: '',
    path: inode.path,
    offset: config2,
    refCtr: config >> 32n,
    args: [],
    command: '',
  } as const;
  return new ProbeEvent(context, LOCAL_ID, definition, inode);
};
