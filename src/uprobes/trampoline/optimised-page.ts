/** The page that optimised sites call (spec section 5.2). */
import type { Profile } from '../profiles.ts';

export const UPROBE_SYSCALL = 336;

/** push %rcx, %r11, %rax; mov $336,%rax; syscall; pop %rax, %r11, %rcx */
const BODY = [
  0x51, 0x41, 0x53, 0x50, 0x48, 0xc7, 0xc0, 0x50, 0x01, 0x00, 0x00, 0x0f, 0x05, 0x58, 0x41, 0x5b,
  0x59,
];
const INT3 = 0xcc;
const RET = [0xc3];
/** ret $0x80: gives the red zone back. */
const RET_RED_ZONE = [0xc2, 0x80, 0x00];

export const optimisedTrampoline = (profile: Profile): Uint8Array =>
  Uint8Array.from([...BODY, ...(profile.optimise === 'nop10' ? RET_RED_ZONE : RET), INT3]);
