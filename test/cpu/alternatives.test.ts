import { describe, expect, it } from 'vitest';
import { enginesThatCan } from '../../src/cpu/alternatives.ts';

describe('enginesThatCan', () => {
  // docs/engines.md: pextrw aborts the JavaScript build only; psignd is wrong in both; AVX is in none.
  it.each([
    ['unicorn', 'pextrw eax,xmm0,1', ['unicorn-native']],
    ['unicorn', 'psignd xmm0,xmm1', []],
    ['unicorn', 'vpaddd ymm0,ymm0,ymm1', []],
    ['unicorn-native', 'psignd xmm0,xmm1', []],
  ])('%s, %s', (engine, text, others) => {
    expect(enginesThatCan(engine, text)).toEqual(others);
  });
});
