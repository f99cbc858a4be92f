/** What the layers above may see of uprobes. */
export { COPY_SIZE } from './arch/analyse.ts';
export { type Explanation, explain } from './arch/explain.ts';
export type { Caller } from './core/breakpoint.ts';
export type { Consumer, Cookie, Hit, Via } from './core/consumer.ts';
export { HandlerResult } from './core/consumer.ts';
export type { UprobeCounters } from './core/counters.ts';
export type { RegisterErrno, RegisterOptions } from './core/registration.ts';
export { type Handle, type PendingReturns, Uprobes } from './core/uprobes.ts';
export type { Profile, ProfileName } from './profiles.ts';
export {
  DEFAULT_PROFILE,
  findProfile,
  PROFILE_ALIASES,
  PROFILE_NAMES,
  PROFILES,
  profileOfRelease,
} from './profiles.ts';
export { optimisedTrampoline } from './trampoline/optimised-page.ts';
export { returnTrampoline } from './trampoline/return-page.ts';
