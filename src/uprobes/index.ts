/** What the layers above may see of uprobes. */
export type { Consumer, Cookie, Hit, Via } from './core/consumer.ts';
export { HandlerResult } from './core/consumer.ts';
export type { Profile, ProfileName } from './profiles.ts';
export {
  DEFAULT_PROFILE,
  findProfile,
  PROFILE_ALIASES,
  PROFILE_NAMES,
  PROFILES,
} from './profiles.ts';
