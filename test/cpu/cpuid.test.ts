import { describe, expect, it } from 'vitest';
import { cpuid } from '../../src/cpu/cpuid.ts';
import { cpuEngines } from '../helpers/engines.ts';

/** What glibc's loader demands of any x86-64 CPU (x86-64 psABI, baseline): FPU CX8 CMOV MMX FXSR SSE SSE2. */
const BASELINE = [0, 8, 15, 23, 24, 25, 26];
/** CPUID.1:ECX: OSXSAVE, AVX, RDRAND; CPUID.7:EBX: BMI1, AVX2, BMI2. */
const NOT_IN_1_ECX = [27, 28, 30];
const IN_7_EBX: Readonly<Record<string, number>> = { BMI1: 3, AVX2: 5, BMI2: 8 };

const has = (word: number, bit: number): boolean => ((word >>> bit) & 1) === 1;

for (const { name, load, missing } of cpuEngines)
  describe(`engine ${name}`, () => {
    it('CPUID tells the x86-64 baseline and promises nothing that is refused', async (ctx) => {
      if (missing !== null) return ctx.skip(missing);
      const engine = (await load()).create();
      const one = cpuid(engine, 1);
      expect(BASELINE.filter((bit) => !has(one.edx, bit))).toEqual([]);
      expect(NOT_IN_1_ECX.filter((bit) => has(one.ecx, bit))).toEqual([]);
      if (cpuid(engine, 0).eax >= 7) {
        const seven = cpuid(engine, 7);
        const { extensions } = engine.capabilities;
        const refused = Object.entries(IN_7_EBX).filter(([name]) => !extensions.includes(name));
        expect(refused.filter(([, bit]) => has(seven.ebx, bit))).toEqual([]);
      }
      engine.dispose();
    });
  });
