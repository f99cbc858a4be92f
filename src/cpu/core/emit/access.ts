/** How handlers reach values: loads by size, and where a guest address lies in linear memory. */
import { Exit, How, Import, TLB } from '../layout.ts';
import type { Body, Local } from '../wasm/body.ts';
import { type Expr, I32, I64, i32, i64, load, wrap } from '../wasm/expr.ts';
import { replace, ZERO } from '../wasm/simd.ts';

const PAGE_MASK = -4096n;

/** Loads `bits` at an address of linear memory as an operand's value. */
export const loadValue = (bits: number, at: Expr, offset = 0): Expr => {
  if (bits === 8) return load.u8(at, offset);
  if (bits === 16) return load.u16(at, offset);
  if (bits === 32) return load.i32(at, offset);
  if (bits === 64) return load.i64(at, offset);
  return load.v128(at, offset);
};

/** Loads a vector of `bits`, zeros above. */
export const loadVector = (bits: number, at: Expr): Expr => {
  if (bits === 128) return load.v128(at);
  if (bits === 64) return load.v128Low64(at);
  if (bits === 32) return load.v128Low32(at);
  if (bits === 16) return replace('i16', ZERO, 0, load.u16(at));
  if (bits === 8) return replace('i8', ZERO, 0, load.u8(at));
  throw new Error(`a vector of ${bits} bits`);
};

/** Finds `bytes` at guest address `at` in linear memory; leaves with a fault where they may not be accessed. */
export const translate = (
  body: Body,
  record: Local,
  at: Local,
  bytes: number,
  write: boolean,
  stack: boolean,
): Local => {
  const host = body.local('i32');
  const table = write ? TLB.write : TLB.read;
  const entry = body.let(I32.and(wrap(I64.shrU(at, i64(8n))), i32((TLB.entries - 1) << 4)));
  const last = bytes > 1 ? I64.add(at, i64(BigInt(bytes - 1))) : at;
  const how = bytes | (write ? How.write : 0) | (stack ? How.stack : 0);
  body.if(
    I64.eq(load.i64(entry, table), I64.and(last, i64(PAGE_MASK))),
    () => body.set(host, I32.add(wrap(at), load.i32(entry, table + 8))),
    () => {
      body.call(Import.slow, [record, at, i32(how)], host);
      body.if(I32.eqz(host), () => body.return(i32(Exit.Fault)));
    },
  );
  return host;
};
