/** Multi links on the text of a rig, by offset. */
import { attachMulti, type MultiHandlers, MultiLink } from '../../src/consumers/multi/link.ts';
import { surroundings } from '../consumers/multi/requests.ts';
import type { Rig } from '../uprobes/rig.ts';

/** A link on offsets of the rig's text. */
export const link = (rig: Rig, offsets: readonly bigint[], handlers: MultiHandlers): MultiLink => {
  const made = attachMulti(
    rig.uprobes,
    surroundings(rig),
    {
      flags: handlers.entry === undefined ? 1 : 0,
      path: '/self',
      offsets,
      refCtrOffsets: null,
      cookies: null,
      count: offsets.length,
      pid: 0,
    },
    handlers,
  );
  if (made instanceof MultiLink) return made;
  throw new Error(made.errno);
};
