/** Slot 0 of `[uprobes]`: where a return-probed function returns to (spec section 4.5). */
import type { Profile } from '../profiles.ts';

export const URETPROBE_SYSCALL = 335;

/** push %rax, %rcx, %r11; mov $335,%rax; syscall; pop %r11, %rcx; ret */
const SYSCALL_FORM = [
  0x50, 0x51, 0x41, 0x53, 0x48, 0xc7, 0xc0, 0x4f, 0x01, 0x00, 0x00, 0x0f, 0x05, 0x41, 0x5b, 0x59,
  0xc3,
];
const INT3 = 0xcc;

/** Offset of the instruction after `syscall`: where ip must be in system call 335. */
export const RETURN_SYSCALL_END = 0x0dn;

/** Bytes that the trampoline pushes before its `syscall`: r11, cx, ax from the lowest address on. */
export const RETURN_FRAME_SIZE = 24n;

export const returnTrampoline = (profile: Profile): Uint8Array => {
  if (profile.uretTrampoline === 'int3') return Uint8Array.of(INT3);
  const tail = profile.uretTrampolineTailInt3 ? [INT3] : [];
  return Uint8Array.from([...SYSCALL_FORM, ...tail]);
};
