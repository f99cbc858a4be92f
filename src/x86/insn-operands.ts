/** modrm, sib, displacement and immediates. */
import { type Draft, peek, peekSigned, skip } from './insn.ts';
import type { Shape } from './insn-maps.ts';

const HAS_MODRM = new Set(['m', 'b', 'd', 'q']);

/** Displacement bytes of an address (SDM vol. 2, tables 2-2 and 2-3; 16-bit addressing does not exist here). */
const displacementSize = (modrm: number, sib: number | null): number => {
  const mod = modrm >> 6;
  if (mod === 3) return 0;
  if (mod === 1) return 1;
  if (mod === 2) return 4;
  const noBase = (modrm & 7) === 5 || (sib !== null && (sib & 7) === 5);
  return noBase ? 4 : 0;
};

const readModrm = (draft: Draft): boolean => {
  const modrm = peek(draft);
  if (modrm === undefined || !skip(draft, 1)) return false;
  draft.modrm = modrm;
  if (modrm >> 6 !== 3 && (modrm & 7) === 4) {
    draft.sib = peek(draft) ?? null;
    if (!skip(draft, 1)) return false;
  }
  draft.dispSize = displacementSize(modrm, draft.sib);
  draft.displacement = peekSigned(draft, draft.dispSize);
  return skip(draft, draft.dispSize);
};

/** Sizes of the immediates of a shape; null when the form does not exist (far pointer with REX.W). */
const immediateSizes = (shape: Shape, draft: Draft): readonly number[] | null => {
  const upTo4 = draft.operandSize === 2 ? 2 : 4;
  switch (shape) {
    case 'b':
    case 'i':
      return [1];
    case 'd':
    case 'z':
      return [upTo4];
    case 'l':
    case 'q':
      return [4];
    case 'w':
      return [2];
    case 'v':
      return [draft.operandSize];
    case 'o':
      return [draft.addressSize];
    case 'e':
      return [2, 1];
    case 'p':
      return draft.operandSize === 8 ? null : [draft.operandSize, 2];
    default:
      return [];
  }
};

/** False when the bytes ended first or the form does not exist. */
export const readOperands = (draft: Draft, shape: Shape): boolean => {
  if (HAS_MODRM.has(shape) && !readModrm(draft)) return false;
  const sizes = immediateSizes(shape, draft);
  if (sizes === null) return false;
  const [first = 0] = sizes;
  if (first > 0) draft.immediate = peekSigned(draft, Math.min(first, 4));
  draft.immSize = first;
  for (const size of sizes) if (!skip(draft, size)) return false;
  return true;
};
