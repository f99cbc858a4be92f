/** The requests of `facts.c` as our own, and what Linux 6.18.44 answered to each (`record.sh`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrnoName } from '../../../src/abi/errno.ts';
import type { MultiRequest, MultiSurroundings } from '../../../src/consumers/multi/request.ts';
import type { Rig } from '../../uprobes/rig.ts';

export const GOLDEN = new Map(
  readFileSync(join(import.meta.dirname, 'errors.k6.18.txt'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/: (?=[^:]+$)/) as [string, string]),
);

/** As in facts.c: three functions, and one that begins with int3. */
export const [F1, F2, F3, INT3] = [0x1000n, 0x1100n, 0x1200n, 0x1300n] as const;
export const FUNCTIONS: readonly bigint[] = [F1, F2, F3];
export const TEXT_BYTES = {
  '0x401000': '90 90 c3',
  '0x401100': '90 90 90 c3',
  '0x401200': '90 90 90 90 c3',
  '0x401300': 'cc c3',
};
/** The counters lie in a page that is also mapped for writing. */
export const [S1, S2] = [0x8000n, 0x8002n] as const;
export const DATA = 0x500000n;
export const PID = 1;

type Change = Partial<MultiRequest>;

/** Requests that name only what matters, by the names of the golden. */
const base = { flags: 0, path: '/self', refCtrOffsets: null, cookies: null, pid: 0 } as const;
const one = (change: Change): MultiRequest => ({ ...base, offsets: [F1], count: 1, ...change });
const list = (offsets: bigint[], change: Change = {}): MultiRequest => ({
  ...base,
  offsets,
  count: offsets.length,
  ...change,
});
const MANY = 2 ** 20 + 1;

export const REQUESTS: Readonly<Record<string, MultiRequest>> = {
  'cnt 2^31-1': one({ count: 2 ** 31 - 1 }),
  'cnt 0': one({ count: 0 }),
  'offset -1': one({ offsets: [2n ** 64n - 1n] }),
  'offsets null': one({ offsets: null }),
  'offsets 1': one({ offsets: [] }),
  'path null': one({ path: null }),
  'path 1': one({ path: undefined }),
  'path /': one({ path: '/' }),
  'cookies 1': one({ cookies: [] }),
  'ref_ctr_offsets 1': one({ refCtrOffsets: [] }),
  'flags bit 31': one({ flags: -(2 ** 31) }),
  'pid -2': one({ pid: -2 }),
  'flags bit 1, path null': one({ flags: 2, path: null }),
  'cnt 2^20+1': one({ count: MANY }),
  'cnt 2^20+1, path 1': one({ count: MANY, path: undefined }),
  'path 1, pid -2': one({ path: undefined, pid: -2 }),
  'path /, offsets 1': one({ path: '/', offsets: [] }),
  'path /, pid 2^30': one({ path: '/', pid: 2 ** 30 }),
  'offsets 1, pid 2^30': one({ offsets: [], pid: 2 ** 30 }),
  'offset -1, ref_ctr_offsets 1': one({ offsets: [2n ** 64n - 1n], refCtrOffsets: [] }),
  'offset -1, cookies 1': one({ offsets: [2n ** 64n - 1n], cookies: [] }),
  'int3, then offset -1': list([INT3, 2n ** 64n - 1n]),
  'path missing': one({ path: '/no/such/file' }),
  'path through a file': one({ path: '/self/x' }),
  'path empty': one({ path: '' }),
  'path of 4095 characters': one({ path: '/'.repeat(4095) }),
  'path of 4096 characters': one({ path: '/'.repeat(4096) }),
  'pid 2^30': one({ pid: 2 ** 30 }),
  'pid own': one({ pid: PID }),
  'offset beyond the file': one({ offsets: [0x10001n] }),
  'offset 2^62': one({ offsets: [1n << 62n] }),
  'ref_ctr_offset odd': one({ refCtrOffsets: [S1 + 1n] }),
  'the same offset twice': list([F1, F1]),
  'the same offset twice, one counter': list([F1, F1], { refCtrOffsets: [S1, 0n] }),
  'C24: three functions and an int3': list([F1, F2, F3, INT3]),
  'C25: f2 with two counters': list([F1, F2, F2], { refCtrOffsets: [S1, S2, S1] }),
  return: one({ flags: 1 }),
  session: one({}),
  cookies: list([F1, F2], { cookies: [1n, 2n] }),
};

/** Told by other lines: what is left afterwards; not told apart here: programs and their kinds. */
export const ELSEWHERE: readonly string[] = [
  'after all that',
  'C24 after',
  'C25 after',
  'session, return',
  'link flags 1',
  'multi program as a session',
];

/** What the file view and the process table of `facts.c` said. */
export const surroundings = (rig: Rig): MultiSurroundings => ({
  lookup: (path) => {
    const told: Readonly<Record<string, ErrnoName>> = {
      '/no/such/file': 'ENOENT',
      '/self/x': 'ENOTDIR',
    };
    return path === '/self' ? rig.file : /^\/+$/.test(path) ? 'EISDIR' : (told[path] ?? 'ENOENT');
  },
  process: (pid) => (pid === PID ? rig.mm : undefined),
});
