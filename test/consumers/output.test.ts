import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesText, textBytes } from '../../src/base/byte-text.ts';
import { exitJson, hitJson, profileJson, statsJson } from '../../src/consumers/event/json.ts';
import type { TraceRecord } from '../../src/consumers/event/record.ts';
import { profileLine, traceLine } from '../../src/consumers/event/text.ts';
import { valueText } from '../../src/consumers/event/value.ts';

const number = (name: string, value: bigint, hex = false) => {
  const arg = { kind: 'number', value, hex } as const;
  return { name, value: arg, text: valueText(arg) };
};

const entry: TraceRecord = {
  timeNs: 1_679_061_958_999n,
  tgid: 15613,
  tid: 15613,
  cpu: 0,
  comm: 'fetch',
  group: 'uprobes',
  event: 'a',
  kind: 'entry',
  via: 'int3',
  ip: 0x401076n,
  func: null,
  args: [number('arg1', 0xfffffffffffffffen, true)],
  regs: null,
};
const exit: TraceRecord = {
  ...entry,
  timeNs: 974_632_598_000n,
  tgid: 8478,
  tid: 8478,
  cpu: 1,
  event: 'r',
  kind: 'return',
  via: 'uretprobe-syscall',
  ip: 0x4010a7n,
  func: 0x4010b0n,
  args: [],
};

describe('trace text', () => {
  // Lines of a real `trace` file, Linux 6.18.44.
  it('has the columns of the kernel', () => {
    expect(traceLine(entry)).toBe(
      '           fetch-15613   [000] DBZff  1679.061958: a: (0x401076) arg1=0xfffffffffffffffe',
    );
    expect(traceLine(exit)).toBe(
      '           fetch-8478    [001] DBZff   974.632598: r: (0x4010a7 <- 0x4010b0)',
    );
  });

  it('keeps the width of a long name and of a young machine', () => {
    expect(traceLine({ ...exit, comm: 'sixteen-and-more', timeNs: 1000n, tid: 1 })).toBe(
      'sixteen-and-more-1       [001] DBZff     0.000001: r: (0x4010a7 <- 0x4010b0)',
    );
  });

  // Lines of a real `uprobe_profile`, Linux 6.18.44.
  it('has the columns of uprobe_profile', () => {
    const long = 'a'.repeat(63);
    expect(profileLine('/tmp/cons/v/fetch', 'r2', 11)).toBe(
      `  /tmp/cons/v/fetch r2${' '.repeat(56)}11`,
    );
    expect(profileLine('/tmp/cons/v/fetch', long, 11)).toBe(
      `  /tmp/cons/v/fetch ${long}${' '.repeat(14)}11`,
    );
  });
});

describe('guest bytes as text', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(textBytes(bytesText(bytes))).toEqual(bytes);
      }),
    );
  });

  it('are the text itself when they are UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(bytesText(new TextEncoder().encode(text))).toBe(text);
      }),
    );
    expect(bytesText(Uint8Array.of(0x61, 0xff, 0xc3, 0xa9, 0xc3))).toBe('a\udcffé\udcc3');
  });
});

describe('JSON lines', () => {
  it('of a hit have every field of the contract', () => {
    const args: TraceRecord['args'] = [
      number('small', -7n),
      number('hex', 0x2an, true),
      number('large', (1n << 64n) - 1n),
      { name: 'text', value: { kind: 'string', value: 'a"b' }, text: '"a"b"' },
      { name: 'bad', value: { kind: 'string', value: null }, text: '(fault)' },
      { name: 'letter', value: { kind: 'char', value: 0x41 }, text: "'A'" },
      {
        name: 'list',
        value: { kind: 'array', values: [number('', 1n).value, number('', 2n).value] },
        text: '{1,2}',
      },
    ];
    expect(JSON.parse(hitJson({ ...entry, args }, 3))).toEqual({
      v: 1,
      type: 'hit',
      seq: 3,
      time_ns: 1_679_061_958_999,
      pid: 15613,
      tid: 15613,
      cpu: 0,
      comm: 'fetch',
      group: 'uprobes',
      probe: 'a',
      kind: 'entry',
      via: 'int3',
      ip: '0x401076',
      regs: null,
      args: {
        small: -7,
        hex: '0x2a',
        large: '18446744073709551615',
        text: 'a"b',
        bad: null,
        letter: 'A',
        list: [1, 2],
      },
    });
  });

  it('of a return name the function and where it goes', () => {
    expect(JSON.parse(hitJson(exit, 1))).toMatchObject({
      kind: 'return',
      func: '0x4010b0',
      ret_ip: '0x4010a7',
    });
  });

  it('end with counters and the exit', () => {
    const profile = { path: '/a', group: 'g', event: 'e', hits: 2, missed: 0 };
    expect(profileJson(profile)).toBe(
      '{"v":1,"type":"profile","path":"/a","group":"g","probe":"e","hits":2,"missed":0}',
    );
    expect(statsJson({ int3: 2 })).toBe('{"v":1,"type":"stats","counters":{"int3":2}}');
    expect(exitJson({ pid: 7, status: 3 })).toBe('{"v":1,"type":"exit","pid":7,"status":3}');
    expect(exitJson({ pid: 7, signal: 11 })).toBe('{"v":1,"type":"exit","pid":7,"signal":11}');
  });
});
