/** Registration and mappings. */
import { expect } from 'vitest';
import { Prot } from '../../../src/cpu/engine.ts';
import { HandlerResult } from '../../../src/uprobes/index.ts';
import { type Rig, TEXT } from '../../uprobes/rig.ts';
import { counting } from '../registers.ts';
import type { Rows } from '../row.ts';

const F = 0x401000n;
const COUNTER = 0x3000n;
const KERNEL = 'Linux 6.18.44';
const consumer = counting({ count: 0 });

/** First bytes that 6.18.44 refuses with 524 when zeroes follow, the prefixes 26 2e 36 3e f0 left out. */
const REFUSED = `06 07 0e 16 17 1e 1f 27 2f 37 3f 60 61 6c 6d 6e 6f 82 9a cc cd ce cf d4 d6
  e4 e5 e6 e7 ea ec ed ee ef f1 f4 fa fb`.split(/\s+/);

const siteOf = (index: number): bigint => F + BigInt(index * 16);

const refusedText = Object.fromEntries(
  REFUSED.map((byte, index) => [`0x${siteOf(index).toString(16)}`, byte]),
);

const register = (rig: Rig, address: bigint, refCtrOffset = 0n): unknown =>
  rig.uprobes.register(rig.file, address - TEXT, consumer, { refCtrOffset });

const counterAt = (rig: Rig, data: bigint): string => rig.bytes(data + COUNTER, 2);

const rows: Rows = [
  {
    id: 'C18',
    what: 'a probe whose filter declines this process: the site is untouched, also in new mappings',
    from: KERNEL,
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3' });
      const hits = { count: 0 };
      rig.attach(F, { ...counting(hits), filter: (mm) => mm !== rig.mm });
      rig.map(0x10000000n, Prot.Read | Prot.Exec);
      rig.call(F);
      expect([rig.bytes(F, 1), rig.bytes(F - TEXT + 0x10000000n, 1), hits.count]).toEqual([
        '90',
        '90',
        0,
      ]);
    },
  },
  {
    id: 'C70',
    what: 'every refused opcode byte: 524 when mapped, accepted and never installed when not',
    from: `${KERNEL}, asked byte by byte`,
    run(trial) {
      const mapped = trial.rig(refusedText);
      const answers = REFUSED.map((_, index) => register(mapped, siteOf(index)));
      expect(answers).toEqual(REFUSED.map(() => 'ENOTSUPP'));
      const unmapped = trial.rig(refusedText, { unmapped: true });
      for (const index of REFUSED.keys())
        expect(register(unmapped, siteOf(index))).toBeTypeOf('object');
      unmapped.map(TEXT, Prot.Read | Prot.Exec);
      expect(REFUSED.map((_, index) => unmapped.bytes(siteOf(index), 1))).toEqual(REFUSED);
    },
  },
  {
    id: 'C70b',
    what: 'C70 in a 32-bit process',
    later: '32-bit processes',
  },
  {
    id: 'C71',
    what: 'offset = file size: EIO when mapped; beyond: EINVAL; an odd counter offset: EINVAL',
    from: KERNEL,
    run(trial) {
      const rig = trial.rig({ '0x400ff0': '90' }, { fileSize: 0xfff });
      expect(register(rig, TEXT + 0xfffn)).toBe('EIO');
      expect(register(rig, TEXT + 0x1000n)).toBe('EINVAL');
      expect(register(rig, TEXT + 0xff0n, 1n)).toBe('EINVAL');
      const unmapped = trial.rig({}, { fileSize: 0xfff, unmapped: true });
      expect(register(unmapped, TEXT + 0xfffn)).toBeTypeOf('object');
    },
  },
  {
    id: 'C89',
    what: 'the reference counter’s segment is mapped after the probe: incremented then, once',
    from: KERNEL,
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3' });
      const handle = rig.attach(F, consumer, { refCtrOffset: COUNTER });
      const data = 0x20000000n;
      rig.map(data, Prot.Read | Prot.Write);
      expect(counterAt(rig, data)).toBe('0100');
      rig.map(0x30000000n, Prot.Read | Prot.Write);
      expect([counterAt(rig, data), counterAt(rig, 0x30000000n)]).toEqual(['0100', '0000']);
      rig.uprobes.unregister(handle);
      expect(counterAt(rig, data)).toBe('0000');
    },
  },
  {
    id: 'C90',
    what: 'a private mapping with PROT_READ alone shows the breakpoint',
    from: KERNEL,
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3' });
      rig.attach(F, consumer);
      rig.map(0x10000000n, Prot.Read);
      expect(rig.bytes(F - TEXT + 0x10000000n, 2)).toBe('ccc3');
    },
  },
  {
    id: 'C91',
    what: 'a shared mapping and the file itself show the original byte',
    from: KERNEL,
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3' });
      rig.attach(F, consumer);
      rig.map(0x10000000n, Prot.Read | Prot.Exec, { shared: true });
      expect(rig.bytes(F - TEXT + 0x10000000n, 2)).toBe('90c3');
      const bytes = new Uint8Array(2);
      rig.file.read(F - TEXT, bytes);
      expect([...bytes]).toEqual([0x90, 0xc3]);
    },
  },
  {
    id: 'C92',
    what: 'all consumers answer "remove" and no filter wants the mm: gone here, not in other mms',
    from: 'handler_chain of the kernel, by its rules',
    run(trial) {
      const rig = trial.rig({ '0x401000': '90 c3' });
      const other = rig.kernel.createMm();
      other.space.map({
        address: TEXT,
        placement: 'only',
        size: 0x10000n,
        prot: Prot.Read | Prot.Exec,
        file: rig.file,
      });
      let wanted = true;
      let hits = 0;
      const remover = {
        entry: (): HandlerResult => {
          hits++;
          wanted = false;
          return HandlerResult.Remove;
        },
        filter: (mm: unknown) => wanted || mm !== rig.mm,
      };
      rig.attach(F, remover);
      rig.attach(F, remover);
      rig.call(F);
      rig.call(F);
      const there = new Uint8Array(1);
      other.space.readForced(F, there);
      expect([rig.bytes(F, 1), there[0], hits]).toEqual(['90', 0xcc, 2]);
    },
  },
];

export default rows;
