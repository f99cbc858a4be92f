import { describe, expect, it } from 'vitest';
import { Guest, ROOM_END } from './guest.ts';

const terminal = { stdin: true, stdout: true, stderr: false, size: { rows: 50, columns: 132 } };

describe('stdout', () => {
  it('takes bytes at once', () => {
    const guest = new Guest();
    expect(guest.call('write', 1, 'hello', 5)).toBe(5);
    expect(guest.stdout).toBe('hello');
  });

  it('that nobody reads answers EPIPE and raises SIGPIPE', () => {
    const guest = new Guest({ stdout: () => 'EPIPE' });
    expect(guest.call('write', 1, 'hello', 5)).toBe('EPIPE');
    expect(guest.task.pending.mask | guest.task.group.pending.mask).toBe(1n << 12n);
  });

  it('may fail in other ways without a signal', () => {
    const guest = new Guest({ stdout: () => 'ENOSPC' });
    expect(guest.call('write', 1, 'hello', 5)).toBe('ENOSPC');
    expect(guest.task.pending.mask | guest.task.group.pending.mask).toBe(0n);
  });

  it('never sees pieces larger than 64 KiB, whatever the guest asks for', () => {
    const sizes: number[] = [];
    const guest = new Guest({
      stdout: (bytes) => {
        sizes.push(bytes.length);
        return null;
      },
    });
    const size = 1n << 20n;
    const at = guest.task.mm.space.map({ size, prot: 3 });
    expect(guest.call('write', 1, at as bigint, size)).toBe(1 << 20);
    expect(sizes).toEqual(Array(16).fill(65536));
    // A terabyte of which two pages are mapped: those go out, a pipe takes whole pages.
    expect(guest.call('write', 1, ROOM_END - 0x2000n, 1n << 40n)).toBe(0x2000);
  });

  it('is a terminal only if the host’s is one', () => {
    const [there, none] = [new Guest({ terminal }), new Guest()];
    const size = there.room(8);
    expect(there.call('ioctl', 1, 0x5413, size)).toBe(0);
    expect([...there.bytes(size, 4)]).toEqual([50, 0, 132, 0]);
    expect(there.call('ioctl', 2, 0x5413, size)).toBe('ENOTTY');
    expect(none.call('ioctl', 1, 0x5413, size)).toBe('ENOTTY');
    expect(none.call('ioctl', 1, 0x5401, size)).toBe('ENOTTY');
  });

  it('has the settings of a fresh terminal', () => {
    const guest = new Guest({ terminal });
    const at = guest.room(36);
    expect(guest.call('ioctl', 0, 0x5401, at)).toBe(0);
    // TCGETS of a fresh pty under Linux 6.18.
    const fresh =
      '00 05 00 00 05 00 00 00 bf 00 00 00 3b 8a 00 00 00 03 1c 7f 15 04 00 01 00 11 13 1a 00 12 0f 17 16 00 00 00';
    const hex = [...guest.bytes(at, 36)].map((byte) => byte.toString(16).padStart(2, '0'));
    expect(hex.join(' ')).toBe(fresh);
  });

  it('keeps terminal settings for the guest to read back', () => {
    const guest = new Guest({ terminal });
    const raw = guest.room(new Uint8Array(36).fill(7));
    const back = guest.room(36);
    expect(guest.call('ioctl', 0, 0x5402, raw)).toBe(0);
    expect(guest.call('ioctl', 1, 0x5401, back)).toBe(0);
    expect(guest.bytes(back, 36)).toEqual(new Uint8Array(36).fill(7));
  });

  it('has the guest’s process group in the foreground', () => {
    const guest = new Guest({ terminal });
    const at = guest.room(4);
    expect(guest.call('ioctl', 1, 0x540f, at)).toBe(0);
    expect(guest.u32(at)).toBe(guest.call('getpgrp'));
    expect(guest.call('ioctl', 1, 0x5410, at)).toBe(0);
  });
});
