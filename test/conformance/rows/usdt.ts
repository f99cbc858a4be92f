/** USDT probes: the kernel's self-test group `usdt`. Programs and their sources: `test/consumers/usdt`. */
import { expect } from 'vitest';
import { CODE_ADDRESS } from '../../../src/bench/program.ts';
import { ElfImage } from '../../../src/elf/image.ts';
import type { Hit, Link, Machine, UsdtHit } from '../../../src/index.ts';
import type { Profile } from '../../../src/uprobes/index.ts';
import { elfWithNotes, elfWithSites, noteBytes, probeDescription } from '../../helpers/usdt-elf.ts';
import { machineFor, usdtProgram } from '../machines.ts';
import type { Row, Trial } from '../row.ts';

const SELF_TEST = 'self-test usdt';
const EXITED = { kind: 'exit', status: 0 };

/** Sizes of the twelve arguments, as the self-test has them. */
const SIZES = [4, 4, 8, 8, 4, 8, 8, 8, 4, 2, 2, 1];
/** `bla`, and the numbers of `record`, as probes.c gives them. */
const BLA = 0xfedcba987654321n;
const NUMBERS = [-30n, 31n, -32n];

const symbolsOf = (bytes: Uint8Array) => {
  const image = ElfImage.parse(bytes, '/program');
  return (name: string): bigint => {
    const address = image.symbolAddress(name);
    if (address === undefined) throw new Error(`no symbol ${name}`);
    return address;
  };
};

const args = (usdt: UsdtHit, count: number) => Array.from({ length: count }, (_, i) => usdt.arg(i));

/** probes.c, triggered with x: what its twelve arguments are. */
const twelve = (x: bigint, address: bigint) => [
  ...[x, x + 1n, 42n, 42n + x, 5n, 6n, BLA, address, -9n],
  ...[NUMBERS[Number(x)], BigInt.asUintN(16, -30n), -2n],
];

const readWord = ({ task }: Hit, address: bigint): number => {
  const bytes = new Uint8Array(2);
  expect(task.mm.space.read(address, bytes)).toBe(2);
  return new DataView(bytes.buffer).getUint16(0, true);
};

/** Runs probes.c; `phases[n]` comes before its n-th round, of four. */
const inPhases = (machine: Machine, phases: readonly (((hit: Hit) => void) | undefined)[]) => {
  let next = 0;
  machine.uprobe('@:phase', {
    entry: (hit) => {
      phases[next++]?.(hit);
      return undefined;
    },
  });
  return machine.run();
};

/** Two probes of sites.S that a profile makes calls of, by the name of its long nop. */
const comboOf = ({ optimise }: Profile): 'nop5' | 'nop10' =>
  optimise === 'nop10' ? 'nop10' : 'nop5';

const hexAt = ({ task }: Hit, address: bigint, count: number): string => {
  const bytes = new Uint8Array(count);
  expect(task.mm.space.readForced(address, bytes)).toBe(count);
  return Buffer.from(bytes).toString('hex');
};

const withSites = (trial: Trial): Machine => machineFor(trial, usdtProgram('sites.elf'));

const MANY = 50_000;

/** mov $8,%ebx; 1: nop; long nop; dec %ebx; jnz 1b; mov $231,%eax; xor %edi,%edi; syscall */
const rounds = ({ nop }: Trial): { readonly code: number[]; readonly site: bigint } => {
  const body = [0x90, ...Buffer.from(nop.hex.replaceAll(' ', ''), 'hex'), 0xff, 0xcb];
  const back = [0x75, 256 - (body.length + 2)];
  const exit = [0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];
  return { code: [0xbb, 8, 0, 0, 0, ...body, ...back, ...exit], site: CODE_ADDRESS + 6n };
};

const trampolinesOf = ({ task }: Hit): bigint[] =>
  task.mm.space
    .vmas()
    .filter(({ special }) => special?.name === '[uprobes-trampoline]')
    .map(({ start }) => start);

const rows: readonly Row[] = [
  {
    id: 'C11',
    what: 'C5 to C7 with a USDT probe on the long nop',
    from: 'self-test uprobe_syscall',
    applies: ({ optimise }) => optimise !== 'none',
    run: async (trial) => {
      const { code, site } = rounds(trial);
      const description = probeDescription({ location: site }, 'long\0nop\0\0');
      const machine = machineFor(trial, elfWithNotes(code, noteBytes({ description })));
      const isNop10 = trial.profile.optimise === 'nop10';
      const call = isNop10 ? '488d642480e8' : 'e8';
      const bytes = (hit: Hit, count: number): string => hexAt(hit, site, count);
      let count = 0;
      const attach = () => machine.usdt('@:%long:nop', () => count++);
      let link: Link | undefined;
      let trampolines: bigint[] = [];
      const optimised = (hit: Hit): void => expect(bytes(hit, call.length / 2)).toBe(call);
      const gone = (hit: Hit): void =>
        expect(bytes(hit, 5)).toBe(isNop10 ? '662e0f1f84' : '0f1f440000');
      const phases: Readonly<Record<number, (hit: Hit) => void>> = {
        0: () => {
          link = attach();
        },
        2: (hit) => {
          optimised(hit);
          trampolines = trampolinesOf(hit);
          link?.close();
          gone(hit);
          link = attach();
          expect(bytes(hit, 1)).toBe('cc');
          link.close();
          gone(hit);
        },
        4: () => {
          expect(count).toBe(2);
          link = attach();
        },
        6: (hit) => {
          optimised(hit);
          expect(trampolinesOf(hit)).toEqual(trampolines);
          expect(trampolines).toHaveLength(1);
          link?.close();
        },
      };
      let round = 0;
      machine.uprobe('@:0x1005', {
        entry: (hit) => {
          phases[round++]?.(hit);
          return undefined;
        },
      });
      expect(await machine.run()).toEqual(EXITED);
      expect(count).toBe(4);
    },
  },
  {
    id: 'C33b',
    what: '50,000 USDT sites in one link, each hit once',
    from: SELF_TEST,
    applies: ({ name }) => name === 'k7.3',
    run: async (trial) => {
      const machine = machineFor(trial, elfWithSites(MANY));
      let sum = 0n;
      const link = machine.usdt('@:%many:site', (usdt) => {
        sum += usdt.arg(0) as bigint;
      });
      expect(link.sites).toHaveLength(MANY);
      expect(await machine.run()).toEqual(EXITED);
      expect(sum).toBe(7n * BigInt(MANY));
    },
  },
  {
    id: 'C40',
    what: 'three probes behind semaphores, of 0, 3 and 12 arguments: counts, values, sizes, cookies',
    from: `${SELF_TEST}; values are those of probes.c`,
    run: async (trial) => {
      const bytes = usdtProgram('probes-gcc.elf');
      const machine = machineFor(trial, bytes);
      const addressOf = symbolsOf(bytes);
      const counts = { usdt0: 0, usdt3: 0, usdt12: 0 };
      machine.usdt('@:%test:usdt0', (usdt) => {
        counts.usdt0++;
        expect([usdt.count, usdt.cookie, usdt.arg(0), usdt.size(0)]).toEqual([
          ...[0, 0n, 'ENOENT', 'ENOENT'],
        ]);
      });
      const cookie = 0xcafedeadbeeffeedn;
      const three = (usdt: UsdtHit): void => {
        const x = BigInt((counts.usdt3++ % 2) + 1);
        expect([usdt.count, usdt.cookie]).toEqual([3, cookie]);
        expect(args(usdt, 4)).toEqual([x, 42n, addressOf('bla'), 'ENOENT']);
        expect([0, 1, 2, 3].map((i) => usdt.size(i))).toEqual([4, 8, 8, 'ENOENT']);
      };
      machine.usdt('@:%test:usdt3', three, { cookie });
      machine.usdt('@:%test:usdt12', (usdt) => {
        const x = BigInt((counts.usdt12++ % 2) + 1);
        expect([usdt.count, usdt.cookie]).toEqual([12, 0n]);
        expect(args(usdt, 13)).toEqual([...twelve(x, addressOf('bla')), 'ENOENT']);
        expect(SIZES.map((_, i) => usdt.size(i))).toEqual(SIZES);
      });
      const raised = (hit: Hit): void => {
        // One for each of a probe's two sites (spec section 2.9).
        for (const name of Object.keys(counts))
          expect(readWord(hit, addressOf(`test_${name}_semaphore`))).toBe(2);
      };
      expect(await inPhases(machine, [raised])).toEqual(EXITED);
      expect(counts).toEqual({ usdt0: 8, usdt3: 8, usdt12: 8 });
    },
  },
  {
    id: 'C41',
    what: 'all inlined places are hit; the 3-argument probe is detached and attached again with a cookie',
    from: SELF_TEST,
    run: async (trial) => {
      const bytes = usdtProgram('probes-gcc.elf');
      const machine = machineFor(trial, bytes);
      const semaphore = symbolsOf(bytes)('test_usdt3_semaphore');
      const seen: string[] = [];
      const attach = (cookie: bigint) =>
        machine.usdt('@:%test:usdt3', (usdt) => seen.push(`${usdt.cookie} ${usdt.arg(0)}`), {
          cookie,
        });
      const link = attach(1n);
      expect(new Set(link.sites.map(({ offset }) => offset)).size).toBe(2);
      const phases = [
        undefined,
        (hit: Hit) => {
          link.close();
          expect(readWord(hit, semaphore)).toBe(0);
        },
        (hit: Hit) => {
          attach(0xbadc00c51en);
          expect(readWord(hit, semaphore)).toBe(2);
        },
      ];
      expect(await inPhases(machine, phases)).toEqual(EXITED);
      const again = `${0xbadc00c51en}`;
      expect(seen).toEqual([
        ...['1 1', '1 2'],
        ...[`${again} 1`, `${again} 2`, `${again} 1`, `${again} 2`],
      ]);
    },
  },
  {
    id: 'C42',
    what: 'a probe on a long nop behind its nop, met twice: by int3, then optimised; both see the argument',
    from: SELF_TEST,
    run: async (trial) => {
      const { profile } = trial;
      const machine = withSites(trial);
      const seen: unknown[] = [];
      machine.usdt(`@:%combo:${comboOf(profile)}`, (usdt) =>
        seen.push([usdt.arg(0), usdt.hit.via]),
      );
      expect(await machine.run()).toEqual(EXITED);
      const second = profile.optimise === 'none' ? 'int3' : 'uprobe-syscall';
      expect(seen).toEqual([
        [2n, 'int3'],
        [1n, second],
      ]);
    },
  },
  {
    id: 'C43',
    what: 'an argument by base, index and scale: the array’s element, sign-extended',
    from: `${SELF_TEST}; the element as sites.S has it`,
    run: async (trial) => {
      const machine = withSites(trial);
      const seen: unknown[] = [];
      machine.usdt('@:%form:sib', (usdt) => seen.push(usdt.arg(0), usdt.size(0)));
      expect(await machine.run()).toEqual(EXITED);
      expect(seen).toEqual([-3n, 2]);
    },
  },
  {
    id: 'C44',
    what: '100 sites of different specs, again and again; 300: E2BIG; 400 sites of one spec',
    from: SELF_TEST,
    run: async (trial) => {
      const machine = withSites(trial);
      let sum = 0n;
      let same = 0;
      const attach = () =>
        machine.usdt('@:%spec:hundred', (usdt) => {
          sum += usdt.arg(0) as bigint;
        });
      attach().close();
      attach().close();
      const link = attach();
      expect(link.sites).toHaveLength(100);
      expect(() => machine.usdt('@:%spec:many', () => {})).toThrow(
        expect.objectContaining({ errno: 'E2BIG' }),
      );
      expect(machine.usdt('@:%spec:same', () => same++).sites).toHaveLength(400);
      expect(await machine.run()).toEqual(EXITED);
      // 0 + 1 + … + 99
      expect(sum).toBe(4950n);
      expect(same).toBe(400);
    },
  },
  {
    id: 'C45',
    what: 'a single nop stays an int3; of nop and long nop the long one is probed and becomes a call',
    from: `${SELF_TEST} (nop10)`,
    run: async (trial) => {
      const { profile } = trial;
      const machine = withSites(trial);
      const combo = comboOf(profile);
      const seen = { plain: [] as bigint[], combo: [] as bigint[] };
      const [plain] = machine.usdt('@:%combo:plain', ({ hit }) => seen.plain.push(hit.site)).sites;
      const [long] = machine.usdt(`@:%combo:${combo}`, ({ hit }) =>
        seen.combo.push(hit.site),
      ).sites;
      const address = (offset = 0n): bigint => offset + 0x400000n;
      machine.uprobe('@:operands', {
        entry: (hit) => {
          expect(hexAt(hit, address(plain?.offset), 1)).toBe('cc');
          const site = address(long?.offset);
          if (profile.optimise === 'none') expect(hexAt(hit, site, 1)).toBe('cc');
          else {
            expect(hexAt(hit, site - 1n, 1)).toBe('90');
            const head = profile.optimise === 'nop10' ? '488d642480e8' : 'e8';
            expect(hexAt(hit, site, head.length / 2)).toBe(head);
          }
          return undefined;
        },
      });
      expect(await machine.run()).toEqual(EXITED);
      expect(seen.plain).toEqual([address(plain?.offset), address(plain?.offset)]);
      expect(seen.combo).toEqual([address(long?.offset), address(long?.offset)]);
    },
  },
  {
    id: 'C46',
    what: 'three arguments in the red zone, ten hits: right, but for what an optimised nop5 overwrites',
    from: `${SELF_TEST} (nop10); Linux 6.18.44 for nop5`,
    run: async (trial) => {
      const { profile } = trial;
      const machine = withSites(trial);
      const seen: unknown[] = [];
      machine.usdt(`@:%redzone:${comboOf(profile)}`, (usdt) => seen.push(args(usdt, 3)));
      expect(await machine.run()).toEqual(EXITED);
      const right = [0xdeadbeefn, 0xcafebaben, 0xfeedfacen];
      expect(seen).toHaveLength(10);
      if (profile.optimise !== 'nop5') for (const one of seen) expect(one).toEqual(right);
      else {
        expect(seen[0]).toEqual(right);
        // Upper halves of site + 5, cx and r11, which the trampoline's call and pushes put there.
        for (const one of seen.slice(1)) expect(one).toEqual([0n, 0n, 0n]);
      }
    },
  },
];

export default rows;
