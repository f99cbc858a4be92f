import { describe, expect, it } from 'vitest';
import { MmapPage, PerfIoc, Sample } from '../../../src/abi/perf.ts';
import { SamplePeriod } from '../../../src/consumers/perf/period.ts';
import type { Task } from '../../../src/kernel/task.ts';
import { EVENT_ID, GuestPerf, PAGE, SITE } from './guest-perf.ts';
import { attr } from './perf-rig.ts';

const HEAD = BigInt(MmapPage.dataHead);
const TAIL = BigInt(MmapPage.dataTail);
const POLLIN = 1;
const POLLHUP = 16;

/** A task of another thread group, as fork makes it. */
const childOf = ({ guest }: GuestPerf, mm = guest.task.mm): Task =>
  guest.kernel.createProcess(mm, {
    image: {
      entry: 0n,
      stackPointer: 0n,
      brkStart: 0x600000n,
      exe: guest.task.mm.exe!,
      auxv: new Uint8Array(0),
    },
    files: guest.task.files,
    comm: 'child',
  });

const polled = ({ guest }: GuestPerf, fd: number): number => {
  const pollfd = guest.room(8);
  guest.task.mm.space.write(pollfd, Uint8Array.of(fd, 0, 0, 0, POLLIN, 0, 0, 0));
  guest.call('poll', pollfd, 1, 0);
  return guest.bytes(pollfd + 6n, 1)[0]!;
};

describe('a perf event and its tasks', () => {
  it('counts its own thread alone', () => {
    const perf = new GuestPerf();
    const fd = perf.open();
    perf.hit(childOf(perf));
    perf.hit();
    expect(perf.count(fd)).toBe(1n);
  });

  it('is inherited where it wants to be, by threads alone with inherit_thread', () => {
    const perf = new GuestPerf();
    const { kernel, task } = perf.guest;
    const none = perf.open();
    const all = perf.open({ flags: ['inherit'] });
    const threads = perf.open({ flags: ['inherit', 'inheritThread'] });
    const thread = childOf(perf);
    kernel.hooks.fork(task, thread, true);
    const process = childOf(perf, kernel.createMm());
    kernel.hooks.fork(thread, process, false);
    for (const one of [task, thread, process]) perf.hit(one);
    expect([none, all, threads].map((fd) => perf.count(fd))).toEqual([1n, 3n, 2n]);
  });

  it('begins or ends at exec', () => {
    const perf = new GuestPerf();
    const begins = perf.open({ flags: ['enableOnExec'] });
    const ends = perf.open({ flags: ['removeOnExec'] });
    perf.hit();
    perf.guest.kernel.hooks.exec(perf.guest.task);
    perf.hit();
    expect([begins, ends].map((fd) => perf.count(fd))).toEqual([1n, 1n]);
    expect(polled(perf, ends)).toBe(POLLHUP);
  });

  it('takes its breakpoints along when the process ends, mapped or not', () => {
    const perf = new GuestPerf();
    const { kernel, task } = perf.guest;
    perf.map(perf.open());
    perf.open();
    expect(perf.event.enabled).toBe(true);
    kernel.exitGroup(task, { kind: 'exit', status: 0 });
    expect(perf.event.enabled).toBe(false);
  });

  it('hangs up when its task has ended', () => {
    const perf = new GuestPerf();
    const fd = perf.open({ wakeup: 1 });
    perf.map(fd);
    perf.hit();
    expect(polled(perf, fd)).toBe(POLLIN);
    perf.guest.kernel.hooks.exit(perf.guest.task);
    perf.hit();
    // The ring went with the last task of the address space.
    expect([polled(perf, fd), perf.count(fd)]).toEqual([POLLHUP, 1n]);
  });
});

describe('a ring', () => {
  it('is one, however often it is mapped: records and tail show everywhere', () => {
    const perf = new GuestPerf();
    const { guest } = perf;
    const fd = perf.open();
    const first = perf.map(fd);
    perf.hit();
    const second = perf.map(fd);
    perf.hit();
    for (const at of [first, second]) expect(guest.u64(at + HEAD)).toBe(32n);
    expect(guest.bytes(first + PAGE, 32)).toEqual(guest.bytes(second + PAGE, 32));
    // 255 records of 16 bytes fit before the ring is full; a tail of 16 makes room for one more.
    for (let i = 0; i < 300; i++) perf.hit();
    expect(guest.u64(first + HEAD)).toBe(4080n);
    guest.task.mm.space.writeU64(second + TAIL, 64n);
    perf.hit();
    expect(guest.u64(first + TAIL)).toBe(64n);
    // LOST (24 bytes) and one sample.
    expect(guest.u64(first + HEAD)).toBe(4080n + 24n + 16n);
    guest.call('munmap', first, 2n * PAGE);
    guest.task.mm.space.writeU64(second + TAIL, 4080n);
    perf.hit();
    expect(guest.u64(second + HEAD)).toBe(4080n + 24n + 32n);
  });

  // Linux 6.18.44 gives a ring any right but execution, whatever it was mapped with.
  it.for([0, 1, 2, 3])('mapped with rights %d, is written to and may have others', (prot) => {
    const perf = new GuestPerf();
    const { guest } = perf;
    const at = perf.map(perf.open(), prot);
    perf.hit();
    for (const next of [3, 0, 2, 1]) expect(guest.call('mprotect', at, 2n * PAGE, next)).toBe(0);
    expect(guest.call('mprotect', at, 2n * PAGE, 5)).toBe('EACCES');
    expect(guest.u64(at + HEAD)).toBe(16n);
    expect(guest.call('mremap', at, 2n * PAGE, 2n * PAGE, 0, 0)).toBe(Number(at));
  });

  // Linux 6.18.44, two CPUs, as user 1000: with a limit of 0 three rings of 65 pages (of 258) and not a
  // fourth; with 64 KiB (16 pages more) four. Here it is 129 pages for the one CPU.
  it.for([
    [0, 1],
    [64 << 10, 2],
    [8 << 20, 33],
  ] as const)('with RLIMIT_MEMLOCK %d there are %d of 65 pages', ([limit, rings]) => {
    const perf = new GuestPerf();
    const { guest } = perf;
    const pair = guest.room(16);
    guest.task.mm.space.writeU64(pair, BigInt(limit));
    guest.task.mm.space.writeU64(pair + 8n, 8n << 20n);
    expect(guest.call('prlimit64', 0, 8, pair, null)).toBe(0);
    const map = (): unknown => guest.call('mmap', null, 65n * PAGE, 3, 1, perf.open(), 0);
    for (let i = 0; i < rings; i++) expect(map()).toBeTypeOf('number');
    expect(map()).toBe('EPERM');
  });

  it('comes back with a snapshot', () => {
    const perf = new GuestPerf();
    const { guest } = perf;
    const fd = perf.open();
    const at = perf.map(fd);
    perf.hit();
    const kernel = guest.kernel.capture();
    const events = perf.perf.capture();
    perf.hit();
    guest.call('ioctl', fd, PerfIoc.DISABLE, 0);
    guest.call('munmap', at, 2n * PAGE);
    perf.hit();
    guest.kernel.restore(kernel);
    perf.perf.restore(events);
    expect([perf.count(fd), guest.u64(at + HEAD)]).toEqual([1n, 16n]);
    perf.hit();
    expect([perf.count(fd), guest.u64(at + HEAD)]).toEqual([2n, 32n]);
  });

  it('takes the record of a tracefs event by its id, arguments and all', () => {
    const perf = new GuestPerf('a=\\7:u32 b=\\9:u8');
    const { guest } = perf;
    const at = perf.map(perf.open({ sampleType: Sample.RAW }));
    perf.hit();
    const record = guest.bytes(at + PAGE, 40);
    const view = new DataView(record.buffer);
    // Head 16, arguments 5: 21 bytes, and 28 + 4 is the next multiple of 8.
    expect(view.getUint32(8, true)).toBe(28);
    expect([view.getUint16(12, true), record[14], record[15]]).toEqual([EVENT_ID, 0, 1]);
    expect(view.getInt32(16, true)).toBe(guest.task.tid);
    expect(view.getBigUint64(20, true)).toBe(SITE);
    expect([view.getUint32(28, true), record[32]]).toEqual([7, 9]);
    expect([...record.subarray(33)]).toEqual(Array(7).fill(0));
  });
});

describe('a sampling period', () => {
  it('by frequency goes to hits a second / Hz', () => {
    const period = new SamplePeriod(attr({ samplePeriod: 1000n, flags: new Set(['freq']) }), false);
    // A hit every 10 us: 100,000 a second, so every 100th gives 1,000 Hz.
    let now = 0n;
    let samples = 0;
    for (let hit = 0; hit < 100_000; hit++) {
      now += 10_000n;
      if (period.hit(() => now) && hit >= 50_000) samples++;
    }
    expect(period.period).toBe(100n);
    expect(samples).toBe(500);
  });
});
