import type { ErrnoName } from '../abi/errno.ts';
import { hex } from '../base/bytes.ts';
import type { TraplineError } from '../base/errors.ts';
import type { Consumer, Profile, Uprobes } from '../uprobes/index.ts';
import type { Place } from './locate.ts';
import { badProbe, judge, whyRefused } from './refusal.ts';

/** One attached consumer. */
export interface Attached {
  detach(): void;
  /** Return handlers that could not be armed. */
  missed(): number;
}

/** A place as uprobes knows it. */
export type Spot = Pick<Place, 'inode' | 'offset' | 'refCtr'>;

/** Registers consumers with uprobes and puts refusals into words. */
export class Attacher {
  readonly #uprobes: Uprobes;
  readonly #profile: Profile;

  constructor(uprobes: Uprobes, profile: Profile) {
    this.#uprobes = uprobes;
    this.#profile = profile;
  }

  /**
   * @param description how messages name the probe
   * @throws TraplineError `bad-probe` with the kernel's errno
   */
  attach(place: Place, consumer: Consumer, description: string): Attached {
    const { inode, offset, refCtr } = place;
    const handle = this.#uprobes.register(inode, offset, consumer, { refCtrOffset: refCtr });
    if (typeof handle === 'string') throw this.refusal(handle, place, description);
    return {
      detach: () => this.#uprobes.unregister(handle),
      missed: () => handle.missed,
    };
  }

  /** One consumer at all places, or at none. */
  attachAll(
    places: readonly Place[],
    consumer: Consumer,
    description: string,
  ): readonly Attached[] {
    const attached: Attached[] = [];
    try {
      for (const place of places) attached.push(this.attach(place, consumer, description));
    } catch (error) {
      for (const one of attached) one.detach();
      throw error;
    }
    return attached;
  }

  /** Why the kernel, which judges a place when something maps it, has never put a breakpoint there. */
  silence(place: Pick<Spot, 'inode' | 'offset'>): string {
    const { verdict, reason } = judge(place, this.#profile);
    if (place.offset < place.inode.size && verdict === 'refuse') return reason;
    return `no private, read-only mapping has covered offset ${hex(place.offset)}`;
  }

  /** The kernel's refusal in words. */
  refusal(errno: ErrnoName, place: Spot, description: string): TraplineError {
    const { reason, hint } = whyRefused(errno, place, this.#profile);
    return badProbe(`probe "${description}"`, reason, errno, hint);
  }
}
