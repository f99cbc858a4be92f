/**
 * The rules of eight kernel releases, as data (spec section 1.2). Code asks for a switch, never for
 * a version.
 */
export interface Profile {
  readonly name: ProfileName;
  /** One line for `trapline profiles`. */
  readonly summary: string;
  /** How a return probe's trampoline enters the kernel. */
  readonly uretTrampoline: 'int3' | 'syscall';
  /** An int3 follows the trampoline's `ret`. */
  readonly uretTrampolineTailInt3: boolean;
  /** System call 335 refuses when the mm has no `[uprobes]` area. */
  readonly uretAreaCheck: boolean;
  /** Return probes overwrite the shadow stack's top entry. */
  readonly uretShadowStack: boolean;
  /** Session consumers, cookies and the answer "ignore". */
  readonly sessions: boolean;
  /** Which nops are emulated: opcode 90 only, or also the kernel's own canonical nops, or any nop form. */
  readonly nopEmulation: '90' | 'canonical' | 'generic';
  /** A handler that changed ip suppresses the probed instruction. */
  readonly skipInsnWhenIpChanged: boolean;
  /** Which sites become calls after their first hit. */
  readonly optimise: 'none' | 'nop5' | 'nop10';
  /** What system call 336 answers outside a trampoline; null where it does not exist (ENOSYS). */
  readonly optimiseWrongPlaceErrno: 'ENXIO' | 'EPROTO' | null;
  /** fork copies `[uprobes-trampoline]`. */
  readonly trampolineCopiedOnFork: boolean;
  /** Un-optimising looks for the trampoline in the probed mm, not in the caller's (CVE-2026-72357). */
  readonly unoptimiseUsesProbedMm: boolean;
  /** Calls, emulated or stepped, keep the shadow stack in step. */
  readonly callEmulationShadowStack: boolean;
  /**
   * User call chains taken at a hit: as the stack has them; with the return addresses that pending
   * return probes hide; besides with the caller of a function whose `push %rbp` is probed.
   */
  readonly userCallchains: 'as-on-stack' | 'returns' | 'returns-and-push';
  /** System calls that seccomp lets through. */
  readonly seccompBypass: readonly number[];
  /** The optimisable nop10 is accepted although it begins with 66 2E. */
  readonly acceptNop10: boolean;
}

export const PROFILE_NAMES = [
  'k6.10',
  'k6.11',
  'k6.14',
  'k6.16',
  'k6.18',
  'k7.1',
  'k7.1.5',
  'k7.3',
] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

export const DEFAULT_PROFILE: ProfileName = 'k7.3';

/** Short names for the release that is typical of a mechanism. */
export const PROFILE_ALIASES: Readonly<Record<string, ProfileName>> = {
  int3: 'k6.10',
  uretsys: 'k6.16',
  nop5: 'k7.1.5',
  nop10: 'k7.3',
};

const k6_10: Profile = {
  name: 'k6.10',
  summary: 'return trampoline by int3',
  uretTrampoline: 'int3',
  uretTrampolineTailInt3: false,
  uretAreaCheck: false,
  uretShadowStack: false,
  sessions: false,
  nopEmulation: '90',
  skipInsnWhenIpChanged: false,
  optimise: 'none',
  optimiseWrongPlaceErrno: null,
  trampolineCopiedOnFork: false,
  unoptimiseUsesProbedMm: false,
  callEmulationShadowStack: false,
  userCallchains: 'as-on-stack',
  seccompBypass: [],
  acceptNop10: false,
};

const k6_11: Profile = {
  ...k6_10,
  name: 'k6.11',
  summary: 'return trampoline by system call 335',
  uretTrampoline: 'syscall',
  uretShadowStack: true,
  userCallchains: 'returns',
};

const k6_14: Profile = {
  ...k6_11,
  name: 'k6.14',
  summary: 'sessions; 335 passes seccomp and checks for its area',
  uretAreaCheck: true,
  sessions: true,
  userCallchains: 'returns-and-push',
  seccompBypass: [335],
};

const k6_16: Profile = {
  ...k6_14,
  name: 'k6.16',
  summary: 'canonical multi-byte nops are emulated',
  uretTrampolineTailInt3: true,
  nopEmulation: 'canonical',
};

/** The canonical rule, not the generic one: seen on 6.18.44 (spec section 0a). */
const k6_18: Profile = {
  ...k6_16,
  name: 'k6.18',
  summary: 'nop5 sites become calls; a handler that moves ip skips the instruction',
  skipInsnWhenIpChanged: true,
  optimise: 'nop5',
  optimiseWrongPlaceErrno: 'ENXIO',
  seccompBypass: [335, 336],
};

const k7_1: Profile = {
  ...k6_18,
  name: 'k7.1',
  summary: 'generic nop recogniser',
  nopEmulation: 'generic',
};

const k7_1_5: Profile = {
  ...k7_1,
  name: 'k7.1.5',
  summary: 'un-optimise looks at the probed process; emulated calls keep the shadow stack',
  unoptimiseUsesProbedMm: true,
  callEmulationShadowStack: true,
};

const k7_3: Profile = {
  ...k7_1_5,
  name: 'k7.3',
  summary: 'only nop10 sites become calls, below the red zone',
  optimise: 'nop10',
  optimiseWrongPlaceErrno: 'EPROTO',
  trampolineCopiedOnFork: true,
  acceptNop10: true,
};

/** Oldest first. */
export const PROFILES: readonly Profile[] = [k6_10, k6_11, k6_14, k6_16, k6_18, k7_1, k7_1_5, k7_3];

/** The profile of a name or alias; undefined for anything else. */
export const findProfile = (name: string): Profile | undefined => {
  const canonical = PROFILE_ALIASES[name] ?? name;
  return PROFILES.find((profile) => profile.name === canonical);
};

const versionOf = (text: string): readonly number[] | undefined =>
  /^\d+(\.\d+)+/.exec(text)?.[0].split('.').map(Number);

const isAtLeast = (version: readonly number[], other: readonly number[]): boolean => {
  const at = version.findIndex((part, i) => part !== (other[i] ?? 0));
  return at < 0 || (version[at] ?? 0) > (other[at] ?? 0);
};

/**
 * The profile whose rules a kernel release has: the newest one that is not newer than the release.
 * @param release as uname(2) tells it, `6.18.44-generic`
 * @returns undefined for releases before the first profile, and for what is no release
 */
export const profileOfRelease = (release: string): Profile | undefined => {
  const version = versionOf(release);
  if (version === undefined) return undefined;
  return PROFILES.findLast(({ name }) => isAtLeast(version, versionOf(name.slice(1)) ?? []));
};
