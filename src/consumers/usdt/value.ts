/** Values of USDT arguments at a hit, as bpf_usdt_arg() fetches them. */
import { u64, view } from '../../base/bytes.ts';
import { FX_IMAGE_SIZE, Reg } from '../../cpu/engine.ts';
import type { Hit } from '../../uprobes/index.ts';
import type { UsdtArgument, UsdtMemory } from './argument.ts';
import type { UsdtRegister } from './registers.ts';

/** Integers by their sign and size; floating point as a number; or why there is none. */
export type UsdtValue = bigint | number | 'EFAULT';

/** Where the vector registers lie in an FXSAVE64 image, and how far apart. */
const XMM_OFFSET = 160;
const XMM_SIZE = 16;

const word = new Uint8Array(8);
const image = new Uint8Array(FX_IMAGE_SIZE);

/**
 * @param bias what the file's link-time addresses are moved by in this process
 * @returns EFAULT when its eight bytes cannot be read: so many are read whatever its size
 */
export const usdtValue = (argument: UsdtArgument, hit: Hit, bias: bigint): UsdtValue => {
  const raw = rawValue(argument, hit, bias);
  if (raw === 'EFAULT') return raw;
  const { size, format } = argument;
  if (format === 'float') return floatOf(raw, size);
  return format === 'signed' ? BigInt.asIntN(size * 8, raw) : BigInt.asUintN(size * 8, raw);
};

const rawValue = ({ operand }: UsdtArgument, hit: Hit, bias: bigint): bigint | 'EFAULT' => {
  switch (operand.kind) {
    case 'constant':
      return u64(operand.value);
    case 'register':
      return registerValue(operand.register, hit);
    case 'memory':
      return hit.task.mm.space.read(addressOf(operand, hit, bias), word) < word.length
        ? 'EFAULT'
        : view(word).getBigUint64(0, true);
  }
};

const registerValue = ({ index, part }: UsdtRegister, { regs }: Hit): bigint => {
  if (part === 'vector') {
    regs.readFx(image);
    return view(image).getBigUint64(XMM_OFFSET + XMM_SIZE * index, true);
  }
  const value = regs.read(index as Reg);
  return part === 'high' ? value >> 8n : value;
};

const SEGMENT_BASES = { fs: Reg.FsBase, gs: Reg.GsBase } as const;

const addressOf = (
  { displacement, symbol, base, index, scale, segment }: UsdtMemory,
  hit: Hit,
  bias: bigint,
): bigint => {
  let address = displacement;
  if (symbol !== null) address += symbol.address + bias;
  if (base !== null) address += registerValue(base, hit);
  if (index !== null) address += registerValue(index, hit) * BigInt(scale);
  if (segment !== null) address += hit.regs.read(SEGMENT_BASES[segment]);
  return u64(address);
};

const floatOf = (raw: bigint, size: number): number => {
  view(word).setBigUint64(0, raw, true);
  return size === 4 ? view(word).getFloat32(0, true) : view(word).getFloat64(0, true);
};
