import { expect, it } from 'vitest';
import { Prot, Reg } from '../../src/cpu/engine.ts';
import { ShadowStackEngine } from '../../src/cpu/shadow-stack/engine.ts';
import { loadEngine } from '../../src/host/node/engines.ts';

const CODE = 0x40_0000n;
const HUGE = 0x1000_0000_0000n;
const TEBIBYTE = 1n << 40n;

it('maps a tebibyte at once, and its stack there is compared', async () => {
  const engine = new ShadowStackEngine((await loadEngine('core')).create());
  engine.map(CODE, 0x1000n, Prot.Read | Prot.Exec);
  engine.map(HUGE, TEBIBYTE, Prot.Read | Prot.Write);
  // ret, with nothing on the shadow stack and an address on the other
  engine.poke(CODE, Uint8Array.of(0xc3));
  const sp = HUGE + TEBIBYTE - 8n;
  engine.poke(sp, Uint8Array.of(0, 0, 0x40));
  engine.regs.write(Reg.Rip, CODE);
  engine.regs.write(Reg.Rsp, sp);
  const traps: string[] = [];
  engine.run(({ kind }) => {
    traps.push(kind);
    return 'stop';
  });
  expect(traps).toEqual(['control-protection']);
});
