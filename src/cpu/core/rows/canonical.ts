import type { Insn } from '../emit/insn.ts';
import { type Expr, I64, i64 } from '../wasm/expr.ts';

/** The address; #GP before anything is done if it is none: bits 63 to 47 differ (SDM vol. 1, 3.3.7.1). */
export const canonical = (e: Insn, address: Expr): Expr => {
  const extended = I64.shrS(I64.shl(address, i64(16n)), i64(16n));
  e.body.if(I64.ne(extended, address), () => e.trap('GeneralProtection'));
  return address;
};
