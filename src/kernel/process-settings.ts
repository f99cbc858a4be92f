/** rlim_t without a limit. */
export const RLIM_INFINITY = (1n << 64n) - 1n;

/** Resources of getrlimit(2), in the order of their numbers. */
export const Resource = {
  CPU: 0,
  FSIZE: 1,
  DATA: 2,
  STACK: 3,
  CORE: 4,
  RSS: 5,
  NPROC: 6,
  NOFILE: 7,
  MEMLOCK: 8,
  AS: 9,
  LOCKS: 10,
  SIGPENDING: 11,
  MSGQUEUE: 12,
  NICE: 13,
  RTPRIO: 14,
  RTTIME: 15,
} as const;
export const RESOURCE_COUNT = 16;

export interface ResourceLimit {
  readonly soft: bigint;
  readonly hard: bigint;
}

const unlimited: ResourceLimit = { soft: RLIM_INFINITY, hard: RLIM_INFINITY };
const both = (value: bigint): ResourceLimit => ({ soft: value, hard: value });

/** INIT_RLIMITS of the kernel; the two that depend on the machine's memory are those of a small one. */
const initialLimits = (): ResourceLimit[] => {
  const limits = Array.from({ length: RESOURCE_COUNT }, () => unlimited);
  limits[Resource.STACK] = { soft: 8n << 20n, hard: RLIM_INFINITY };
  limits[Resource.CORE] = { soft: 0n, hard: RLIM_INFINITY };
  limits[Resource.NPROC] = both(4096n);
  limits[Resource.NOFILE] = { soft: 1024n, hard: 4096n };
  limits[Resource.MEMLOCK] = both(8n << 20n);
  limits[Resource.SIGPENDING] = both(4096n);
  limits[Resource.MSGQUEUE] = both(819200n);
  limits[Resource.NICE] = both(0n);
  limits[Resource.RTPRIO] = both(0n);
  return limits;
};

/** What a process has set for itself and only reads back. */
export class ProcessSettings {
  limits: ResourceLimit[] = initialLimits();
  /** PR_SET_DUMPABLE. */
  dumpable = 1;
  /** PR_SET_PDEATHSIG. */
  deathSignal = 0;
  /** PR_SET_NO_NEW_PRIVS. */
  noNewPrivileges = false;
  /** personality(2). */
  personality = 0;

  capture(): unknown {
    return { ...this, limits: [...this.limits] };
  }

  restore(state: unknown): void {
    Object.assign(this, state, { limits: [...(state as ProcessSettings).limits] });
  }
}

/** Addresses a thread has left with the kernel. */
export class ThreadSettings {
  /** set_robust_list(2). */
  robustList = 0n;
  /** rseq(2); null = not registered. */
  rseq: { readonly address: bigint; readonly size: number; readonly signature: number } | null =
    null;

  capture(): unknown {
    return { ...this };
  }

  restore(state: unknown): void {
    Object.assign(this, state);
  }
}
