import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CcLayout, ConditionCodes } from '../../src/cpu/unicorn/condition-codes.ts';

/** First of QEMU's four operations (CC_OP_ADDB, CC_OP_SUBB ...), and what the CPU does. */
const OPERATIONS = {
  add: { first: 6, apply: (a: bigint, b: bigint) => a + b },
  sub: { first: 14, apply: (a: bigint, b: bigint) => a - b },
} as const;
const STEPS = { inc: { first: 26, by: 1n }, dec: { first: 30, by: -1n } } as const;

const bit = (condition: boolean, flag: number): number => (condition ? flag : 0);

/** The definitions of SDM vol. 1, 3.4.3.1, by exact arithmetic. */
const expected = (bits: number, a: bigint, b: bigint, exact: bigint, subtract: boolean): number => {
  const signed = (value: bigint): bigint => BigInt.asIntN(bits, value);
  const result = BigInt.asUintN(bits, exact);
  const exactSigned = subtract ? signed(a) - signed(b) : signed(a) + signed(b);
  const nibble = subtract ? (a & 15n) - (b & 15n) : (a & 15n) + (b & 15n);
  const ones = [...(result & 0xffn).toString(2)].filter((digit) => digit === '1').length;
  return (
    bit(exact !== result, 1) |
    bit(ones % 2 === 0, 4) |
    bit(nibble < 0n || nibble > 15n, 0x10) |
    bit(result === 0n, 0x40) |
    bit(signed(result) < 0n, 0x80) |
    bit(exactSigned !== signed(result), 0x800)
  );
};

const OTHERS = 0x202;
const stateOf = (operation: number, result: bigint, operand: bigint): Int32Array => {
  const words = new Int32Array(10);
  const view = new DataView(words.buffer);
  words[0] = OTHERS;
  view.setBigUint64(CcLayout.result, BigInt.asUintN(64, result), true);
  view.setBigUint64(CcLayout.operand, BigInt.asUintN(64, operand), true);
  view.setInt32(CcLayout.operation, operation, true);
  view.setInt32(CcLayout.direction, 1, true);
  return words;
};

const value = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.constantFrom(
    0n,
    1n,
    0x7fn,
    0x80n,
    0xffn,
    2n ** 31n,
    2n ** 63n,
    2n ** 63n - 1n,
    2n ** 64n - 1n,
  ),
);
const codes = new ConditionCodes();

for (const [width, bits] of [8, 16, 32, 64].entries()) {
  for (const [name, { first, apply }] of Object.entries(OPERATIONS))
    it(`knows the flags of ${name} on ${bits} bits`, () => {
      fc.assert(
        fc.property(value, value, (x, y) => {
          const [a, b] = [BigInt.asUintN(bits, x), BigInt.asUintN(bits, y)];
          const exact = apply(a, b);
          const state = stateOf(first + width, BigInt.asUintN(bits, exact), b);
          expect(codes.flags(state, 0)).toBe(OTHERS | expected(bits, a, b, exact, name === 'sub'));
        }),
      );
    });
  for (const [name, { first, by }] of Object.entries(STEPS))
    it(`knows the flags of ${name} on ${bits} bits, carry kept`, () => {
      fc.assert(
        fc.property(value, fc.integer({ min: 0, max: 1 }), (x, carry) => {
          const a = BigInt.asUintN(bits, x);
          const state = stateOf(first + width, BigInt.asUintN(bits, a + by), BigInt(carry));
          const wanted = expected(bits, a, 1n, a + by, by < 0n);
          expect(codes.flags(state, 0)).toBe(OTHERS | (wanted & ~1) | carry);
        }),
      );
    });
  it(`knows the flags of a logical operation on ${bits} bits`, () => {
    fc.assert(
      fc.property(value, (x) => {
        const result = BigInt.asUintN(bits, x);
        const wanted = expected(bits, result, 0n, result, false);
        expect(codes.flags(stateOf(22 + width, result, 0n), 0)).toBe(OTHERS | wanted);
      }),
    );
  });
}

it('takes DF from its own place, and flags that are kept as such', () => {
  const state = stateOf(1, 0n, 0x8d5n);
  state[CcLayout.direction / 4] = -1;
  expect(codes.flags(state, 0)).toBe(OTHERS | 0x400 | 0x8d5);
});

it('leaves other operations to the library', () => {
  for (const operation of [0, 2, 5, 10, 13, 18, 21, 34, 40, 50])
    expect(codes.flags(stateOf(operation, 0n, 0n), 0)).toBeUndefined();
});
