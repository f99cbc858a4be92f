import { TYPE_BYTE, type Type, unsigned } from './encode.ts';
import { type Expr, i32, STORE_OPCODE } from './expr.ts';

/** A local variable; reads as an expression. */
export interface Local extends Expr {
  readonly index: number;
}

const EMPTY_BLOCK = 0x40;

/** The statements of one function, written in order. */
export class Body {
  readonly #parameters: readonly Type[];
  readonly #locals: Type[] = [];
  readonly #code: number[] = [];

  constructor(parameters: readonly Type[]) {
    this.#parameters = parameters;
  }

  parameter(index: number): Local {
    const type = this.#parameters[index];
    if (type === undefined) throw new Error(`the function has no parameter ${index}`);
    return { type, index, code: [0x20, ...unsigned(index)] };
  }

  local(type: Type): Local {
    const index = this.#parameters.length + this.#locals.length;
    this.#locals.push(type);
    return { type, index, code: [0x20, ...unsigned(index)] };
  }

  set(local: Local, value: Expr): void {
    if (value.type !== local.type) throw new TypeError(`${value.type} for ${local.type}`);
    this.#emit(value.code, [0x21, ...unsigned(local.index)]);
  }

  /** Computes a value once, here. */
  let(value: Expr): Local {
    const local = this.local(value.type);
    this.set(local, value);
    return local;
  }

  store(bits: keyof typeof STORE_OPCODE, address: Expr, offset: number, value: Expr): void {
    const type = bits === 128 ? 'v128' : bits === 64 ? 'i64' : 'i32';
    if (value.type !== type) throw new TypeError(`store of ${value.type} as ${bits} bits`);
    this.#emit(address.code, value.code, STORE_OPCODE[bits], [0, ...unsigned(offset)]);
  }

  /** Stores at a fixed address. */
  storeAt(bits: keyof typeof STORE_OPCODE, address: number, value: Expr): void {
    this.store(bits, i32(0), address, value);
  }

  if(condition: Expr, yes: () => void, no?: () => void): void {
    this.#emit(condition.code, [0x04, EMPTY_BLOCK]);
    yes();
    if (no !== undefined) {
      this.#emit([0x05]);
      no();
    }
    this.#emit([0x0b]);
  }

  /** Repeats while `again`, evaluated after each round, is not 0. */
  loop(round: () => Expr): void {
    this.#emit([0x03, EMPTY_BLOCK]);
    this.#emit(round().code, [0x0d, 0, 0x0b]);
  }

  return(value: Expr): void {
    this.#emit(value.code, [0x0f]);
  }

  /** Calls a function; its result, if any, goes to `into`. */
  call(index: number, args: readonly Expr[], into?: Local): void {
    for (const { code } of args) this.#emit(code);
    this.#emit([0x10, ...unsigned(index)]);
    if (into !== undefined) this.#emit([0x21, ...unsigned(into.index)]);
  }

  /** Leaves for the function at `slot` of table 0, without growing the stack. */
  tailCall(type: number, args: readonly Expr[], slot: Expr): void {
    for (const { code } of args) this.#emit(code);
    this.#emit(slot.code, [0x13, ...unsigned(type), 0]);
  }

  /** Copies `size` bytes between two places of linear memory. */
  copy(to: Expr, from: Expr, size: Expr): void {
    this.#emit(to.code, from.code, size.code, [0xfc, 0x0a, 0, 0]);
  }

  /** Sets `size` bytes. */
  fill(to: Expr, value: Expr, size: Expr): void {
    this.#emit(to.code, value.code, size.code, [0xfc, 0x0b, 0]);
  }

  unreachable(): void {
    this.#emit([0x00]);
  }

  /** The function as the code section wants it. */
  finish(): number[] {
    const locals: number[] = [...unsigned(this.#locals.length)];
    for (const type of this.#locals) locals.push(1, TYPE_BYTE[type]);
    return [...unsigned(locals.length + this.#code.length + 1), ...locals].concat(
      this.#code,
      [0x0b],
    );
  }

  #emit(...parts: readonly (readonly number[])[]): void {
    for (const part of parts) for (const byte of part) this.#code.push(byte);
  }
}
