/** Nonsense from the guest: always an answer, never an exception, and no memory for the asking. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errnoNumber } from '../../../src/abi/errno.ts';
import { ATTR_SIZE, AttrAt, MmapPage, PerfIoc } from '../../../src/abi/perf.ts';
import { GuestPerf, PAGE } from './guest-perf.ts';

const SEED = 20261130;

/** Numbers at the edges of their widths, small ones, and any. */
const word = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  fc.integer({ min: -3, max: 40 }).map((value) => BigInt.asUintN(64, BigInt(value))),
  fc.integer({ min: 0, max: 63 }).map((bit) => 1n << BigInt(bit)),
);

const isAnswer = (answer: unknown): boolean =>
  typeof answer === 'number' || (typeof answer === 'string' && errnoNumber(answer as 'EINVAL') > 0);

/** An attr of our event with a few fields overwritten. */
const attrs = fc.array(
  fc.tuple(fc.constantFrom(...Object.values(AttrAt).filter((at) => at % 8 === 0)), word),
  { maxLength: 4 },
);

describe('perf and a hostile guest', () => {
  it('answers every attribute, pid, cpu, group and flag; what it opens can be hit and read', () => {
    fc.assert(
      fc.property(
        attrs,
        word,
        word,
        word,
        fc.integer({ min: 0, max: 31 }),
        (fields, pid, cpu, group, flags) => {
          const perf = new GuestPerf('a=%di:u64 b=+0(%sp):string');
          const { guest } = perf;
          const bytes = new Uint8Array(ATTR_SIZE);
          const view = new DataView(bytes.buffer);
          view.setUint32(AttrAt.type, 2, true);
          view.setUint32(AttrAt.size, ATTR_SIZE, true);
          view.setBigUint64(AttrAt.config, 1500n, true);
          for (const [at, value] of fields) view.setBigUint64(at, value, true);
          for (const one of [
            perf.open(),
            guest.call('perf_event_open', guest.room(bytes), pid, cpu, group, flags),
          ]) {
            expect(isAnswer(one)).toBe(true);
            if (typeof one !== 'number') continue;
            guest.call('mmap', null, 3n * PAGE, 3, 1, one, 0);
            for (let i = 0; i < 3; i++) perf.hit();
            expect(isAnswer(guest.call('read', one, guest.room(256), 256))).toBe(true);
          }
        },
      ),
      { seed: SEED, numRuns: 400 },
    );
  });

  it('answers every request', () => {
    const perf = new GuestPerf();
    const { guest } = perf;
    const fds = [perf.open(), perf.open({ period: 0n }), perf.open({ flags: ['freq'] })];
    perf.map(fds[0]!);
    const request = fc.oneof(fc.constantFrom(...Object.values(PerfIoc)).map(BigInt), word);
    fc.assert(
      fc.property(fc.constantFrom(...fds), request, word, (fd, what, arg) => {
        expect(isAnswer(guest.call('ioctl', fd, what, arg))).toBe(true);
        perf.hit();
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  it('maps rings of any size or none, and never trusts their pages', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 7 }), word, (size, offset, prot, tail) => {
        const perf = new GuestPerf();
        const { guest } = perf;
        const { space } = guest.task.mm;
        const fd = perf.open();
        expect(isAnswer(guest.call('mmap', null, size, prot, 1, fd, offset))).toBe(true);
        const at = perf.map(perf.open());
        space.write(at, new Uint8Array(1024).fill(0xff));
        space.writeU64(at + BigInt(MmapPage.dataTail), tail);
        space.writeU64(at + BigInt(MmapPage.dataSize), tail);
        for (let i = 0; i < 300; i++) perf.hit();
        expect(guest.u64(at + BigInt(MmapPage.dataHead)) <= 4096n + 4096n).toBe(true);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});
