import { beforeAll, describe, expect, it } from 'vitest';
import { type EngineFactory, Reg } from '../../src/cpu/engine.ts';
import { engines } from '../helpers/engines.ts';

for (const { name, load, missing } of engines)
  describe(`engine ${name}`, () => {
    let factory: EngineFactory | undefined;
    beforeAll(async () => {
      if (missing === null) factory = await load();
    });

    it('reports int3, syscall and a page fault where they happen', (ctx) => {
      if (factory === undefined) return ctx.skip(missing ?? '');
      const engine = factory.create();
      engine.map(0x400000n, 0x1000n, 5);
      // int3; syscall; mov rax,[0x900000]
      const code = [0xcc, 0x0f, 0x05, 0x48, 0x8b, 0x04, 0x25, 0x00, 0x00, 0x90, 0x00];
      engine.poke(0x400000n, Uint8Array.from(code));
      engine.regs.write(Reg.Rip, 0x400000n);
      const seen: string[] = [];
      engine.run((trap) => {
        seen.push(`${trap.kind} ${engine.regs.read(Reg.Rip).toString(16)}`);
        return trap.kind === 'page-fault' ? 'stop' : 'go';
      });
      expect(seen).toEqual(['int3 400001', 'syscall 400003', 'page-fault 400003']);
      engine.dispose();
    });
  });
