import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Frame, SigContext, SigInfoLayout, UContext } from '../../src/abi/sigframe.ts';
import { Sa } from '../../src/abi/signals.ts';
import { view } from '../../src/base/bytes.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { bare, HANDLER, RESTORER } from './bare.ts';
import type { Step } from './scripted-engine.ts';

/** What Linux 6.18 told the handler in each case; the addresses of `site` are those of the program. */
const recorded = new Map(
  readFileSync(join(import.meta.dirname, 'facts/faults.golden'), 'utf8')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line]),
);
const field = (name: string, key: string): string | undefined =>
  new RegExp(` ${key}=(\\S+)`).exec(recorded.get(name) ?? '')?.[1];

const SITE = 0x401010n;
const END = { kind: 'unsupported', text: 'the end of the test' } as const;
const at = (ip: bigint): Pick<Step, 'regs'> => ({ regs: { Rip: ip } });

/** Exception flags of FSW and MXCSR alike (SDM vol. 1, 8.1.3.3 and 10.2.3). */
const IE = 0x01;
const ZE = 0x04;
const OE = 0x08;
const UE = 0x10;
const PE = 0x20;
const ALL = 0x3f;

/** An FXSAVE image with exceptions raised, and which of them are masked, in one of the units. */
const fx = (unit: 'x87' | 'sse', raised: number, masked: number): Uint8Array => {
  const image = new Uint8Array(512);
  const into = view(image);
  into.setUint16(0, unit === 'x87' ? 0x340 | masked : 0x37f, true);
  into.setUint16(2, unit === 'x87' ? raised : 0, true);
  // MXCSR's masks are its flags seven bits further up.
  into.setUint32(24, unit === 'sse' ? (masked << 7) | raised : 0x1f80, true);
  return image;
};

interface Case {
  readonly name: string;
  readonly step: Step;
  readonly fx?: Uint8Array;
}

const unmapped = 0x10000000n;
const CASES: readonly Case[] = [
  ...(['read', 'write'] as const).map((access) => ({
    name: `${access}-unmapped`,
    step: { kind: 'page-fault', address: unmapped, access, mapped: false, ...at(SITE) } as const,
  })),
  {
    name: 'exec-unmapped',
    step: { kind: 'page-fault', address: unmapped, access: 'exec', ...at(unmapped) },
  },
  {
    name: 'read-kernel',
    step: { kind: 'page-fault', address: 0xffffffffffff0000n, access: 'read', ...at(SITE) },
  },
  { name: 'hlt', step: { kind: 'general-protection', ...at(SITE) } },
  { name: 'push-noncanonical', step: { kind: 'stack-fault', ...at(SITE) } },
  { name: 'ud2', step: { kind: 'invalid-opcode', ...at(SITE) } },
  { name: 'divide-by-zero', step: { kind: 'divide-error', ...at(SITE) } },
  { name: 'int3', step: { kind: 'int3', ...at(SITE + 1n) } },
  { name: 'int-3', step: { kind: 'interrupt', vector: 3, ...at(SITE + 2n) } },
  { name: 'int-4', step: { kind: 'interrupt', vector: 4, ...at(SITE + 2n) } },
  { name: 'int-0', step: { kind: 'interrupt', vector: 0, ...at(SITE + 2n) } },
  { name: 'int-0x20', step: { kind: 'interrupt', vector: 0x20, ...at(SITE + 2n) } },
  { name: 'int-0x80', step: { kind: 'interrupt', vector: 0x80, ...at(SITE + 2n) } },
  { name: 'int-0xff', step: { kind: 'interrupt', vector: 0xff, ...at(SITE + 2n) } },
  {
    name: 'single-step',
    step: { kind: 'debug', regs: { Rip: SITE + 1n, Rflags: 0x302n } },
  },
  { name: 'x87-divide', step: { kind: 'fpu-error', ...at(SITE) }, fx: fx('x87', ZE, 0) },
  { name: 'x87-invalid', step: { kind: 'fpu-error', ...at(SITE) }, fx: fx('x87', IE, 0) },
  { name: 'x87-precision', step: { kind: 'fpu-error', ...at(SITE) }, fx: fx('x87', PE, 0) },
  { name: 'x87-overflow', step: { kind: 'fpu-error', ...at(SITE) }, fx: fx('x87', OE | PE, PE) },
  { name: 'sse-divide', step: { kind: 'simd-error', ...at(SITE) }, fx: fx('sse', ZE, ALL & ~ZE) },
  { name: 'sse-invalid', step: { kind: 'simd-error', ...at(SITE) }, fx: fx('sse', IE, ALL & ~IE) },
  { name: 'sse-overflow', step: { kind: 'simd-error', ...at(SITE) }, fx: fx('sse', OE, ALL & ~OE) },
  {
    name: 'sse-underflow',
    step: { kind: 'simd-error', ...at(SITE) },
    fx: fx('sse', UE, ALL & ~UE),
  },
  {
    name: 'sse-precision',
    step: { kind: 'simd-error', ...at(SITE) },
    fx: fx('sse', PE, ALL & ~PE),
  },
  {
    name: 'sse-overflow-and-precision',
    step: { kind: 'simd-error', ...at(SITE) },
    fx: fx('sse', OE | PE, ALL & ~(OE | PE)),
  },
];

const place = (value: bigint): string => {
  const offset = value - SITE;
  return offset >= 0n && offset < 16n ? `site+${offset}` : `0x${value.toString(16)}`;
};

describe('a trap becomes the signal that Linux 6.18 sends', () => {
  it.each(CASES)('$name', ({ name, step, fx: image }) => {
    const made = bare([step, END]);
    const { kernel, task, mm } = made;
    for (const signal of [4, 5, 7, 8, 11])
      task.actions.set(signal, {
        handler: HANDLER,
        flags: Sa.RESTORER | Sa.SIGINFO,
        restorer: RESTORER,
        mask: 0n,
      });
    if (image !== undefined) task.regs.writeFx(image);
    kernel.runSlice();
    expect(task.regs.read(Reg.Rip)).toBe(HANDLER);
    const frame = new Uint8Array(Frame.size);
    mm.space.read(task.regs.read(Reg.Rsp), frame);
    const info = new DataView(frame.buffer, Frame.siginfo);
    const context = new DataView(frame.buffer, Frame.ucontext + UContext.mcontext);
    const flags = context.getBigUint64(SigContext.flags, true);
    expect({
      signal: `${info.getInt32(SigInfoLayout.signo, true)}`,
      code: `${info.getInt32(SigInfoLayout.code, true)}`,
      addr: place(info.getBigUint64(SigInfoLayout.address, true)),
      trapno: `${context.getBigUint64(SigContext.trapno, true)}`,
      err: `0x${context.getBigUint64(SigContext.err, true).toString(16)}`,
      ip: place(context.getBigUint64(SigContext.ip, true)),
      flags: `0x${flags.toString(16)}`,
    }).toEqual(
      Object.fromEntries(
        ['signal', 'code', 'addr', 'trapno', 'err', 'ip', 'flags'].map((key) => [
          key,
          field(name, key),
        ]),
      ),
    );
  });

  it('an arithmetic trap without an unmasked exception is none (a spurious interrupt)', () => {
    const { kernel, task } = bare([{ kind: 'fpu-error', ...at(SITE) }, END]);
    task.regs.writeFx(fx('x87', PE, PE));
    kernel.runSlice();
    expect(task.regs.read(Reg.Rip)).toBe(SITE);
  });

  it('int 0x80 is named once a call in the log', () => {
    const { kernel, log } = bare([{ kind: 'interrupt', vector: 0x80, ...at(SITE + 2n) }]);
    kernel.runSlice();
    expect(log).toHaveLength(1);
    expect(log[0]).toContain('int 0x80');
  });
});
