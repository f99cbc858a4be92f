/** uprobe_multi and uprobe_session links: many sites, one pair of handlers (spec section 6.1). */
import type { ErrnoName } from '../../abi/errno.ts';
import {
  type Consumer,
  type Handle,
  HandlerResult,
  type Hit,
  type Uprobes,
} from '../../uprobes/index.ts';
import {
  type CheckedRequest,
  checkRequest,
  type MultiRequest,
  type MultiSite,
  type MultiSurroundings,
} from './request.ts';

/**
 * Called with the hit and the place of the link that was hit. Of a session's entry handler any answer
 * but 0 or nothing keeps the return handler of this call from running; other answers do nothing.
 */
export type MultiHandler = (hit: Hit, site: MultiSite) => number | undefined;

/** One handler, or both: a session, whose two calls share `hit.cookie`. */
export interface MultiHandlers {
  readonly entry?: MultiHandler;
  readonly return?: MultiHandler;
}

/** Why a link could not be made, and at which of its places, if at one. */
export interface MultiFailure {
  readonly errno: ErrnoName;
  readonly at: number | null;
}

/** An attached link. */
export class MultiLink {
  readonly sites: readonly MultiSite[];
  readonly #uprobes: Uprobes;
  readonly #handles: readonly Handle[];

  constructor(uprobes: Uprobes, sites: readonly MultiSite[], handles: readonly Handle[]) {
    this.#uprobes = uprobes;
    this.sites = sites;
    this.#handles = handles;
  }

  /** Return handlers that could not be armed, over all places. */
  get missed(): number {
    return this.#handles.reduce((sum, { missed }) => sum + missed, 0);
  }

  detach(): void {
    for (const handle of this.#handles) this.#uprobes.unregister(handle);
  }
}

/** All of a request's places, or none. Sessions need a kernel that has them. */
export const attachMulti = (
  uprobes: Uprobes,
  surroundings: MultiSurroundings,
  request: MultiRequest,
  handlers: MultiHandlers,
): MultiLink | MultiFailure => {
  const isSession = handlers.entry !== undefined && handlers.return !== undefined;
  // The attach type is unknown to an older kernel.
  if (isSession && !uprobes.profile.sessions) return { errno: 'EINVAL', at: null };
  const checked = checkRequest(request, surroundings);
  if (typeof checked === 'string') return { errno: checked, at: null };
  return register(uprobes, checked, consumersOf(handlers, checked));
};

const register = (
  uprobes: Uprobes,
  { inode, sites }: CheckedRequest,
  consumerOf: (site: MultiSite) => Consumer,
): MultiLink | MultiFailure => {
  const handles: Handle[] = [];
  for (const [at, site] of sites.entries()) {
    const { offset, refCtrOffset } = site;
    const handle = uprobes.register(inode, offset, consumerOf(site), { refCtrOffset });
    if (typeof handle === 'string') {
      for (const done of handles) uprobes.unregister(done);
      return { errno: handle, at };
    }
    handles.push(handle);
  }
  return new MultiLink(uprobes, sites, handles);
};

/** Every place has a consumer of its own: the same offset twice is two calls. */
const consumersOf = (
  { entry, return: onReturn }: MultiHandlers,
  { only }: CheckedRequest,
): ((site: MultiSite) => Consumer) => {
  const isSession = entry !== undefined && onReturn !== undefined;
  // Another process may share the mm the filter accepts: it is not meant.
  const isMeant = ({ task }: Hit): boolean => only === null || task.tgid === only.pid;
  return (site) => ({
    ...(entry && {
      entry: (hit: Hit) => {
        const answer = isMeant(hit) ? (entry(hit, site) ?? 0) : 0;
        return isSession && answer !== 0 ? HandlerResult.Ignore : HandlerResult.Continue;
      },
    }),
    ...(onReturn && {
      return: (hit: Hit) => {
        if (isMeant(hit)) onReturn(hit, site);
      },
    }),
    ...(only && { filter: (mm) => mm === only.mm }),
  });
};
