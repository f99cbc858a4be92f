import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Prot } from '../../src/cpu/engine.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const BASE = 0x10000000n;
const PAGES = 48;
const at = (page: number): bigint => BASE + BigInt(page) * 4096n;

/** Byte `i` of page `p` tells both, so that a shifted page shows. */
const FILE_PAGES = 20;
const fileBytes = Uint8Array.from(
  { length: FILE_PAGES * 4096 - 1000 },
  (_, i) => (i >> 12) * 7 + i,
);
const file = memoryInode('/file', fileBytes);

/** What one page should be: the plainest model there is. */
interface ModelPage {
  prot: number;
  readonly bytes: Uint8Array;
  /** What it held at first: what madvise(MADV_DONTNEED) brings back. */
  readonly original: Uint8Array;
  /** No page of the file is there: SIGBUS. */
  readonly missing: boolean;
}

const originalPage = (first: number | null, i: number): Uint8Array => {
  const page = new Uint8Array(4096);
  if (first === null) return page;
  const index = first + i;
  page.set(fileBytes.subarray(index * 4096, (index + 1) * 4096));
  return page;
};

type Step =
  | { readonly do: 'map'; page: number; count: number; prot: number; filePage: number | null }
  | { readonly do: 'unmap' | 'discard'; page: number; count: number }
  | { readonly do: 'protect'; page: number; count: number; prot: number }
  | { readonly do: 'move'; page: number; count: number; to: number }
  | { readonly do: 'write'; page: number; offset: number; length: number; value: number }
  | { readonly do: 'text'; page: number; offset: number; value: number }
  | { readonly do: 'capture' }
  | { readonly do: 'restore' };

const page = fc.nat(PAGES - 1);
const count = fc.integer({ min: 1, max: 24 });
const prot = fc.constantFrom(Prot.None, Prot.Read, 3, 3, 5, 7);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('map' as const),
    page,
    count,
    prot,
    filePage: fc.option(fc.nat(FILE_PAGES)),
  }),
  fc.record({ do: fc.constantFrom('unmap' as const, 'discard' as const), page, count }),
  fc.record({ do: fc.constant('protect' as const), page, count, prot }),
  fc.record({ do: fc.constant('move' as const), page, count, to: page }),
  fc.record({
    do: fc.constant('write' as const),
    page,
    offset: fc.nat(4095),
    length: fc.integer({ min: 1, max: 9000 }),
    value: fc.nat(255),
  }),
  fc.record({
    do: fc.constant('text' as const),
    page,
    offset: fc.nat(4095),
    value: fc.nat(255),
  }),
  fc.record({ do: fc.constantFrom('capture' as const, 'restore' as const) }),
);

/** An address space beside an array of pages; both are always asked the same. */
class Pair {
  readonly engine = new FakeEngine();
  readonly space = new AddressSpace(this.engine);
  model = new Map<number, ModelPage>();
  #saved = this.#capture();

  run(step: Step): void {
    if (step.do === 'map') this.#map(step);
    else if (step.do === 'unmap' || step.do === 'discard') this.#drop(step);
    else if (step.do === 'protect') this.#protect(step);
    else if (step.do === 'move') this.#move(step);
    else if (step.do === 'write') this.#write(step);
    else if (step.do === 'text') this.#text(step);
    else if (step.do === 'capture') this.#saved = this.#capture();
    else this.#restore();
  }

  #map({ page, count, prot, filePage: first }: Step & { do: 'map' }): void {
    const backing = first === null ? {} : { file, offset: BigInt(first) * 4096n };
    const request = {
      address: at(page),
      placement: 'replace',
      size: BigInt(count) * 4096n,
    } as const;
    expect(this.space.map({ ...request, prot, ...backing })).toBe(at(page));
    for (let i = 0; i < count; i++)
      this.model.set(page + i, {
        prot,
        bytes: originalPage(first, i),
        original: originalPage(first, i),
        missing: first !== null && first + i >= FILE_PAGES,
      });
  }

  #drop({ do: what, page, count }: Step & { do: 'unmap' | 'discard' }): void {
    this.space[what](at(page), BigInt(count) * 4096n);
    for (let i = 0; i < count; i++) {
      const found = this.model.get(page + i);
      if (what === 'discard') found?.bytes.set(found.original);
      else this.model.delete(page + i);
    }
  }

  #protect({ page, count, prot }: Step & { do: 'protect' }): void {
    const result = this.space.protect(at(page), BigInt(count) * 4096n, prot);
    let whole = true;
    for (let i = 0; i < count && whole; i++) {
      const found = this.model.get(page + i);
      if (found) found.prot = prot;
      else whole = false;
    }
    expect(result).toBe(whole ? null : 'ENOMEM');
  }

  #move({ page, count, to }: Step & { do: 'move' }): void {
    const size = BigInt(count) * 4096n;
    const result = this.space.remap(at(page), size, size, { mayMove: true, fixed: at(to) });
    if (result !== at(to)) {
      const overlaps = to < page + count && page < to + count;
      expect(result).toBe(overlaps ? 'EINVAL' : 'EFAULT');
      return;
    }
    for (let i = 0; i < count; i++) {
      const found = this.model.get(page + i);
      // Holes between the moved vmas leave what is at the new place alone.
      if (found) this.model.set(to + i, found);
      this.model.delete(page + i);
    }
  }

  #write({ page, offset, length, value }: Step & { do: 'write' }): void {
    const done = this.space.write(at(page) + BigInt(offset), new Uint8Array(length).fill(value));
    let expected = 0;
    for (; expected < length; expected++) {
      const found = this.model.get(page + ((offset + expected) >> 12));
      if (!found || found.missing || (found.prot & Prot.Write) === 0) break;
      found.bytes[(offset + expected) & 4095] = value;
    }
    expect(done).toBe(expected);
  }

  #text({ page, offset, value }: Step & { do: 'text' }): void {
    const found = this.model.get(page);
    const result = this.space.writeText(at(page) + BigInt(offset), Uint8Array.of(value));
    expect(result).toBe(found && !found.missing ? null : 'EFAULT');
    if (found && !found.missing) found.bytes[offset] = value;
  }

  #capture() {
    return {
      model: copyModel(this.model),
      space: this.space.capture(),
      engine: this.engine.capture(),
    };
  }

  #restore(): void {
    this.space.restore(this.#saved.space);
    this.engine.restore(this.#saved.engine);
    this.model = copyModel(this.#saved.model);
  }

  /** Every page reads as the model says, and the engine holds nothing else. */
  check(): void {
    for (let i = 0; i < 2 * PAGES; i++) {
      const found = this.model.get(i);
      const now = new Uint8Array(4096);
      const readable = found !== undefined && !found.missing && found.prot !== Prot.None;
      expect(this.space.read(at(i), now)).toBe(readable ? 4096 : 0);
      if (readable) expect(Buffer.compare(now, found.bytes)).toBe(0);
      expect(this.space.find(at(i))?.prot).toBe(found?.prot);
    }
    for (const mapped of this.engine.mappedPages()) {
      const found = this.model.get(Number((mapped - BASE) / 4096n));
      // x86 has no read bit: any right makes a page readable.
      expect(this.engine.protAt(mapped)).toBe(found?.prot ? found.prot | Prot.Read : 0);
    }
    const areas = this.space.vmas();
    areas.forEach((vma, i) => {
      expect(vma.start < vma.end && (areas[i - 1]?.end ?? 0n) <= vma.start).toBe(true);
    });
  }
}

const copyModel = (model: ReadonlyMap<number, ModelPage>): Map<number, ModelPage> =>
  new Map([...model].map(([i, page]) => [i, { ...page, bytes: page.bytes.slice() }]));

describe('contents', () => {
  it('are those of a plain array of pages', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        const pair = new Pair();
        for (const one of steps) pair.run(one);
        pair.check();
      }),
      { numRuns: 200 },
    );
  });
});
