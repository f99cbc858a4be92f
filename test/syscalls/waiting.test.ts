import { describe, expect, it } from 'vitest';
import { O } from '../../src/abi/fcntl.ts';
import { BAD, Guest } from './guest.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const HOST = { kind: 'host', what: 'pipe:[1]' };

const timespec = (guest: Guest, seconds: bigint, ns: bigint): bigint => {
  const pair = new BigInt64Array([seconds, ns]);
  return guest.room(new Uint8Array(pair.buffer));
};

describe('stdin', () => {
  it('makes a read wait for the host until bytes come', () => {
    const guest = new Guest();
    const into = guest.room(16);
    expect(guest.call('read', 0, into, 16)).toEqual(HOST);
    expect(guest.again()).toEqual(HOST);
    guest.view.streams.stdin.feed(bytes('hello'));
    expect(guest.again()).toBe(5);
    expect(guest.text(into, 5)).toBe('hello');
  });

  it('ends: reads give 0 once the bytes are read', () => {
    const guest = new Guest();
    const into = guest.room(16);
    guest.view.streams.stdin.feed(bytes('ab'));
    guest.view.streams.stdin.end();
    expect(guest.call('read', 0, into, 1)).toBe(1);
    expect(guest.call('read', 0, into, 16)).toBe(1);
    expect(guest.call('read', 0, into, 16)).toBe(0);
    // pipe(7): end of file comes before a look at the buffer.
    expect(guest.call('read', 0, BAD, 16)).toBe(0);
  });

  it('gives a terminal one line a read, a pipe all there is', () => {
    for (const [terminal, expected] of [
      [{ stdin: true, stdout: false, stderr: false }, 4],
      [undefined, 8],
    ] as const) {
      const guest = new Guest(terminal && { terminal });
      guest.view.streams.stdin.feed(bytes('one\n'));
      guest.view.streams.stdin.feed(bytes('two\n'));
      expect(guest.call('read', 0, guest.room(64), 64)).toBe(expected);
    }
  });

  it('answers EAGAIN when it is non-blocking', () => {
    const guest = new Guest();
    expect(guest.call('fcntl', 0, 4, O.NONBLOCK)).toBe(0);
    expect(guest.call('read', 0, guest.room(8), 8)).toBe('EAGAIN');
  });

  it('is what poll and select wait for, however short their timeouts', () => {
    const guest = new Guest();
    const fds = guest.room(Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0));
    expect(guest.call('poll', fds, 1, 10)).toEqual(HOST);
    guest.view.streams.stdin.feed(bytes('x'));
    expect(guest.again()).toBe(1);
    expect(guest.u32(fds + 4n)).toBe(0x0001_0001);
    guest.call('read', 0, guest.room(8), 8);
    const set = guest.room(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0));
    expect(guest.call('select', 1, set, null, null, null)).toEqual(HOST);
    guest.view.streams.stdin.end();
    expect(guest.again()).toBe(1);
  });
});

describe('pipes', () => {
  it('make a reader wait for the other end, of which there is none that could run', () => {
    const guest = new Guest();
    const pair = guest.room(8);
    guest.call('pipe', pair);
    expect(guest.u64(pair)).toBe(0x0000_0004_0000_0003n);
    expect(guest.call('read', 3, guest.room(8), 8)).toEqual({ kind: 'signal' });
  });

  it('carry bytes, then end when the writer is closed', () => {
    const guest = new Guest();
    guest.call('pipe2', guest.room(8), O.CLOEXEC);
    const into = guest.room(8);
    expect(guest.call('write', 4, 'abc', 3)).toBe(3);
    expect(guest.call('close', 4)).toBe(0);
    expect(guest.call('read', 3, into, 8)).toBe(3);
    expect(guest.text(into, 3)).toBe('abc');
    expect(guest.call('read', 3, into, 8)).toBe(0);
  });

  it('raise SIGPIPE without a reader', () => {
    const guest = new Guest();
    guest.call('pipe', guest.room(8));
    guest.call('close', 3);
    expect(guest.call('write', 4, 'abc', 3)).toBe('EPIPE');
    expect(guest.task.pending.mask | guest.task.group.pending.mask).toBe(1n << 12n); // SIGPIPE = 13
  });

  it('hold 65536 bytes and then make the writer wait', () => {
    const guest = new Guest();
    guest.call('pipe', guest.room(8));
    for (let i = 0; i < 16; i++) expect(guest.call('write', 4, 0x10000, 4096)).toBe(4096);
    expect(guest.call('write', 4, 0x10000, 1)).toEqual({ kind: 'signal' });
  });
});

describe('sleeping', () => {
  it('lasts until the machine’s clock shows the end', () => {
    const guest = new Guest();
    const start = guest.kernel.now();
    const second = { kind: 'until', timeNs: start + 1_500_000_000n };
    expect(guest.call('nanosleep', timespec(guest, 1n, 500_000_000n), null)).toEqual(second);
    expect(guest.again()).toEqual(second);
    guest.kernel.clock.skipTo(second.timeNs);
    expect(guest.again()).toBe(0);
  });

  it('takes absolute times of CLOCK_REALTIME', () => {
    const guest = new Guest();
    const { clock } = guest.kernel;
    const goal = clock.realtimeNs() + 7n;
    const at = timespec(guest, goal / 1_000_000_000n, goal % 1_000_000_000n);
    const timeNs = clock.monotonicNs() + 7n;
    expect(guest.call('clock_nanosleep', 0, 1, at, null)).toEqual({ kind: 'until', timeNs });
  });

  it('takes the largest times without overflow', () => {
    const guest = new Guest();
    const long = timespec(guest, 0x7fff_ffff_ffff_ffffn, 0n);
    expect(guest.call('nanosleep', long, null)).toMatchObject({ kind: 'until' });
  });

  it('is what a poll on nothing does', () => {
    const guest = new Guest();
    const timeNs = guest.kernel.now() + 20_000_000n;
    expect(guest.call('poll', null, 0, 20)).toEqual({ kind: 'until', timeNs });
    guest.kernel.clock.skipTo(timeNs);
    expect(guest.again()).toBe(0);
  });

  it('never ends for pause and for a poll without timeout', () => {
    expect(new Guest().call('pause')).toEqual({ kind: 'signal' });
    expect(new Guest().call('poll', null, 0, -1)).toEqual({ kind: 'signal' });
  });
});

describe('futex', () => {
  it('waits for a signal: nobody else could wake it', () => {
    const guest = new Guest();
    expect(guest.call('futex', guest.room(4), 0, 0, null)).toEqual({ kind: 'signal' });
  });

  it('times out', () => {
    const guest = new Guest();
    const wait = guest.call('futex', guest.room(4), 128, 0, timespec(guest, 0n, 5n));
    expect(wait).toEqual({ kind: 'until', timeNs: guest.kernel.now() + 5n });
    guest.kernel.clock.skipTo(guest.kernel.now() + 5n);
    expect(guest.again()).toBe('ETIMEDOUT');
  });

  it('takes absolute timeouts of both clocks with FUTEX_WAIT_BITSET', () => {
    const guest = new Guest();
    const goal = guest.kernel.clock.realtimeNs() + 9n;
    const at = timespec(guest, goal / 1_000_000_000n, goal % 1_000_000_000n);
    const op = 9 | 128 | 256;
    expect(guest.call('futex', guest.room(4), op, 0, at, null, 0xffffffff)).toEqual({
      kind: 'until',
      timeNs: guest.kernel.clock.monotonicNs() + 9n,
    });
  });
});
