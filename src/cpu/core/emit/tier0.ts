/** Rows become handlers: functions from a record to an exit that end by calling the next record's handler. */
import { Exit, HANDLER_TYPE, Import, JUMPS, RECORD, STATE } from '../layout.ts';
import { Body, type Local } from '../wasm/body.ts';
import { type Expr, extendU, I32, I64, i32, i64, load, wrap } from '../wasm/expr.ts';
import { extract } from '../wasm/simd.ts';
import { loadValue, loadVector, translate } from './access.ts';
import { Flags } from './flags.ts';
import type { AccessOptions, Insn, MemorySize, OwnTrap, Place } from './insn.ts';
import { Gpr } from './insn.ts';
import type { Size } from './int.ts';
import { FULL_MEMORY, isString, REP, REPNE, type Variant } from './variant.ts';

const DF = 1 << 10;

export class Tier0 implements Insn {
  readonly body = new Body(['i32']);
  readonly flags = new Flags(this.body);
  readonly name: string;
  readonly #variant: Variant;
  readonly #routine: (name: string) => number;
  readonly #record: Local;
  #linear: Local | undefined;
  #ended = false;

  constructor(variant: Variant, routine: (name: string) => number) {
    this.#variant = variant;
    this.#routine = routine;
    this.name = variant.form.name;
    this.#record = this.body.parameter(0);
    if (this.#usesMmx || variant.form.mnemonic === 'Emms') this.#reportPending();
  }

  get #usesMmx(): boolean {
    return this.#variant.operands.some(({ file }) => file === 'mm');
  }

  /** MMX instructions wait for x87 exceptions too. */
  #reportPending(): void {
    const pending = I32.and(load.u16(i32(0), STATE.fsw), i32(0x80));
    this.body.if(pending, () => this.trap('FpuError'));
  }

  /** The function's bytes. */
  finish(): number[] {
    if (!this.#ended) this.advance();
    this.body.unreachable();
    return this.body.finish();
  }

  // operands

  #operand(i: number) {
    const operand = this.#variant.operands[i];
    if (operand === undefined) throw new Error(`${this.name} has no operand ${i}`);
    return operand;
  }

  size(i: number): Size {
    const { bits } = this.#operand(i);
    if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64)
      throw new Error(`${this.name}: operand ${i} has ${bits} bits`);
    return bits;
  }

  isMemory(i: number): boolean {
    return this.#operand(i).kind === 'memory';
  }

  slot(i: number): Expr {
    return load.u16(this.#record, RECORD.operand + 2 * i);
  }

  read(i: number): Local {
    const size = this.size(i);
    const { kind } = this.#operand(i);
    if (kind === 'memory') return this.load(this.linear(), size);
    const at = kind === 'register' ? this.slot(i) : this.#record;
    return this.body.let(loadValue(size, at, kind === 'register' ? 0 : RECORD.immediate));
  }

  write(i: number, value: Expr): void {
    const size = this.size(i);
    if (this.isMemory(i)) this.store(this.linear(), size, value);
    else this.#setRegister(this.slot(i), size, value);
  }

  modify(i: number): Place {
    const size = this.size(i);
    if (!this.isMemory(i)) return { value: this.read(i), put: (value) => this.write(i, value) };
    const { at, done } = this.writable(this.linear(), size / 8);
    const put = (value: Expr): void => {
      this.body.store(size, at, 0, value);
      done();
    };
    return { value: this.body.let(loadValue(size, at)), put };
  }

  vectorBits(i: number): number {
    return this.#operand(i).bits;
  }

  isMmx(i: number): boolean {
    return this.#operand(i).file === 'mm';
  }

  vector(i: number, options: AccessOptions = {}): Local {
    const { bits } = this.#operand(i);
    const at = this.isMemory(i)
      ? this.readable(this.linear(), bits / 8, options)
      : this.body.let(this.slot(i));
    return this.body.let(loadVector(bits, at));
  }

  putVector(i: number, value: Expr, options: AccessOptions = {}): void {
    const { bits } = this.#operand(i);
    if (this.isMemory(i) && bits === 128) this.store(this.linear(), 128, value, options);
    else if (bits === 128) this.body.store(128, this.slot(i), 0, value);
    else this.putLow(i, bits === 64 ? extract('i64', value, 0) : extract('i32', value, 0));
  }

  putLow(i: number, value: Expr): void {
    const size = value.type === 'i64' ? 64 : 32;
    if (this.isMemory(i)) {
      this.store(this.linear(), size, value);
      return;
    }
    this.body.store(size, this.slot(i), 0, value);
    // An MMX register is the fraction of an x87 one whose exponent becomes all ones.
    if (this.isMmx(i)) this.body.store(16, this.slot(i), 8, i32(0xffff));
  }

  /** MMX instructions take all of the x87 stack (SDM vol. 1, 9.5). */
  takeStack(): void {
    const { body } = this;
    body.storeAt(16, STATE.fsw, I32.and(load.u16(i32(0), STATE.fsw), i32(~0x3800)));
    body.storeAt(8, STATE.ftw, i32(0xff));
  }

  // registers

  #setRegister(at: Expr, size: Size, value: Expr): void {
    // A 32-bit result clears the upper half (SDM vol. 1, 3.4.1.1).
    if (size === 32) this.body.store(64, at, 0, extendU(value));
    else this.body.store(size, at, 0, value);
  }

  gpr(number: number, size: Size): Expr {
    return loadValue(size, i32(0), STATE.gpr + 8 * number);
  }

  setGpr(number: number, size: Size, value: Expr): void {
    this.#setRegister(i32(STATE.gpr + 8 * number), size, value);
  }

  // memory

  address(): Expr {
    const record = this.#record;
    const at = (field: number): Expr => load.i64(load.u16(record, field));
    const base = I64.add(at(RECORD.base), load.i64(record, RECORD.displacement));
    if (this.#variant.choice !== FULL_MEMORY) return base;
    const index = I64.shl(at(RECORD.index), extendU(load.u8(record, RECORD.scale)));
    return I64.and(I64.add(base, index), load.i64(record, RECORD.addressMask));
  }

  linear(): Local {
    if (this.#linear !== undefined) return this.#linear;
    const address = this.address();
    const full = this.#variant.choice === FULL_MEMORY;
    this.#linear = this.body.let(full ? I64.add(address, this.#segmentBase()) : address);
    return this.#linear;
  }

  implied(offset: Expr): Local {
    return this.body.let(I64.add(I64.and(offset, this.#addressMask()), this.#segmentBase()));
  }

  #segmentBase(): Expr {
    return load.i64(load.u16(this.#record, RECORD.segment));
  }

  secondImmediate(): Expr {
    return wrap(load.i64(this.#record, RECORD.displacement));
  }

  #translate(address: Expr, bytes: number, write: boolean, options: AccessOptions): Local {
    const { body } = this;
    const at = body.let(address);
    if (options.aligned) body.if(I32.and(wrap(at), i32(15)), () => this.trap('GeneralProtection'));
    return translate(body, this.#record, at, bytes, write, options.stack ?? false);
  }

  readable(address: Expr, bytes: number, options: AccessOptions = {}): Local {
    return this.#translate(address, bytes, false, options);
  }

  writable(address: Expr, bytes: number, options: AccessOptions = {}): { at: Local; done(): void } {
    const at = this.#translate(address, bytes, true, options);
    const done = (): void =>
      this.body.if(I32.eq(at, i32(STATE.bounce)), () => this.body.call(Import.commit, []));
    return { at, done };
  }

  loaded(at: Expr, size: MemorySize): Local {
    return this.body.let(loadValue(size, at));
  }

  scratch(value: Expr): void {
    this.body.storeAt(64, STATE.scratch, value);
  }

  load(address: Expr, size: MemorySize, options: AccessOptions = {}): Local {
    return this.body.let(loadValue(size, this.readable(address, size / 8, options)));
  }

  store(address: Expr, size: MemorySize, value: Expr, options: AccessOptions = {}): void {
    const { at, done } = this.writable(address, size / 8, options);
    this.body.store(size, at, 0, value);
    done();
  }

  // control

  get ip(): Expr {
    return load.i64(this.#record, RECORD.ip);
  }

  get nextIp(): Expr {
    return I64.add(this.ip, extendU(load.u8(this.#record, RECORD.length)));
  }

  #exit(kind: number): void {
    this.body.storeAt(32, STATE.record, this.#record);
    this.body.return(i32(kind));
  }

  #dispatch(record: Expr): void {
    const next = this.body.let(record);
    this.body.tailCall(HANDLER_TYPE, [next], load.i32(next, RECORD.handler));
  }

  advance(): void {
    this.#ended = true;
    const { body } = this;
    if (this.#usesMmx) this.takeStack();
    const next = body.let(I32.add(this.#record, i32(RECORD.size)));
    body.tailCall(HANDLER_TYPE, [next], load.i32(next, RECORD.handler));
  }

  /** Takes `instructions` off what may still run; answers the new value. */
  #count(instructions: Expr): Local {
    const { body } = this;
    const remaining = body.let(I64.sub(load.i64(i32(0), STATE.remaining), extendU(instructions)));
    body.storeAt(64, STATE.remaining, remaining);
    return remaining;
  }

  #countBlock(): Local {
    return this.#count(I32.add(load.u8(this.#record, RECORD.place), i32(1)));
  }

  jump(): void {
    this.#ended = true;
    this.#follow(this.#countBlock());
  }

  /** To the record behind `link`, unless the budget is used up. */
  #follow(remaining: Local): void {
    const { body } = this;
    const next = body.let(load.i32(this.#record, RECORD.link));
    body.if(I64.ltS(remaining, i64(0n)), () => {
      body.storeAt(32, STATE.record, next);
      body.return(i32(Exit.Budget));
    });
    this.#dispatch(next);
  }

  /** A record that only leads to another, `place` instructions after the block's start. */
  bridge(): void {
    this.#ended = true;
    this.#follow(this.#count(load.u8(this.#record, RECORD.place)));
  }

  /** Leaves without having done anything. */
  exit(kind: number): void {
    this.#ended = true;
    this.#exit(kind);
  }

  jumpTo(target: Expr): void {
    this.#ended = true;
    const { body } = this;
    const to = body.let(target);
    const remaining = this.#countBlock();
    const hash = I32.xor(wrap(to), wrap(I64.shrU(to, i64(12n))));
    const entry = body.let(I32.shl(I32.and(hash, i32(JUMPS.entries - 1)), i32(4)));
    const known = I64.eq(load.i64(entry, JUMPS.at), to);
    const left = I32.eqz(I64.ltS(remaining, i64(0n)));
    body.if(I32.and(known, left), () => this.#dispatch(load.i32(entry, JUMPS.at + 8)));
    body.storeAt(64, STATE.rip, to);
    body.return(i32(Exit.Indirect));
  }

  trap(kind: OwnTrap): void {
    this.#exit(Exit[kind]);
  }

  ends(): void {
    this.#ended = true;
  }

  selector(number: number): Expr {
    return load.u16(i32(0), STATE.selectors + 2 * number);
  }

  leave(): void {
    this.#ended = true;
    this.#exit(Exit.Next);
  }

  host(routine: string): void {
    const { body } = this;
    const exit = body.local('i32');
    body.call(Import.host, [this.#record, i32(this.#routine(routine))], exit);
    // 0 is Exit.Fault; what went well is below 0.
    body.if(I32.eqz(I32.ltS(exit, i32(0))), () => {
      body.storeAt(32, STATE.record, this.#record);
      body.return(exit);
    });
  }

  // string instructions

  get repeat(): 'none' | 'rep' | 'repne' {
    if (!isString(this.#variant.form)) return 'none';
    const { choice } = this.#variant;
    return choice === REP ? 'rep' : choice === REPNE ? 'repne' : 'none';
  }

  stringAddress(register: number): Local {
    const offset = this.gpr(register, 64);
    // ES has no base; the segment of RSI can be overridden.
    if (register === Gpr.Rsi) return this.implied(offset);
    return this.body.let(I64.and(offset, this.#addressMask()));
  }

  #addressMask(): Expr {
    return load.i64(this.#record, RECORD.addressMask);
  }

  stepString(register: number, bytes: number): void {
    const down = I32.and(load.i32(i32(0), STATE.control), i32(DF));
    const by = I64.sub(
      i64(BigInt(bytes)),
      I64.mul(extendU(I32.shrU(down, i32(10))), i64(BigInt(2 * bytes))),
    );
    const next = I64.add(this.gpr(register, 64), by);
    this.setGpr(register, 64, I64.and(next, this.#addressMask()));
  }

  skipIfDone(): void {
    if (this.repeat === 'none') return;
    const count = I64.and(this.gpr(Gpr.Rcx, 64), this.#addressMask());
    this.body.if(I64.eqz(count), () => this.advance());
  }

  again(stop: Expr | null): void {
    if (this.repeat === 'none') this.advance();
    else this.#iterate(stop);
  }

  /** Counts down; goes on with the next instruction, or with this one. */
  #iterate(stop: Expr | null): void {
    const { body } = this;
    const mask = this.#addressMask();
    const count = body.let(I64.and(I64.sub(this.gpr(Gpr.Rcx, 64), i64(1n)), mask));
    this.setGpr(Gpr.Rcx, 64, count);
    const last = I64.eqz(count);
    body.if(stop === null ? last : I32.or(last, stop), () => this.advance());
    const remaining = this.#count(i32(1));
    body.if(I64.ltS(remaining, i64(0n)), () => this.#exit(Exit.Iteration));
    this.#dispatch(this.#record);
  }
}
