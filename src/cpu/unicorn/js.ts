import { TraplineError } from '../../base/errors.ts';
import type { Hooks, HostBlock, UnicornCpu, UnicornLibrary } from './binding.ts';

/** The inner module of the JavaScript build: C functions take 32-bit numbers, 64-bit ones as two. */
export interface UnicornModule {
  readonly HEAPU8: Uint8Array;
  readonly HEAPU32: Uint32Array;
  _malloc(size: number): number;
  _free(pointer: number): void;
  _uc_open(arch: number, mode: number, handle: number): number;
  _uc_close(uc: number): number;
  _uc_mem_map_ptr(
    uc: number,
    low: number,
    high: number,
    size: number,
    prot: number,
    pointer: number,
  ): number;
  _uc_mem_unmap(uc: number, low: number, high: number, size: number): number;
  _uc_mem_write(uc: number, low: number, high: number, from: number, size: number): number;
  _uc_mem_read(uc: number, low: number, high: number, to: number, size: number): number;
  _uc_reg_read(uc: number, id: number, to: number): number;
  _uc_reg_write(uc: number, id: number, from: number): number;
  _uc_emu_start(
    uc: number,
    beginLow: number,
    beginHigh: number,
    untilLow: number,
    untilHigh: number,
    timeoutLow: number,
    timeoutHigh: number,
    count: number,
  ): number;
  _uc_emu_stop(uc: number): number;
  _uc_hook_add(
    uc: number,
    handle: number,
    type: number,
    callback: number,
    data: number,
    beginLow: number,
    beginHigh: number,
    endLow: number,
    endHigh: number,
    instruction: number,
  ): number;
  addFunction(callback: (...args: number[]) => unknown, signature: string): number;
  removeFunction(callback: number): void;
}

const ARCH_X86 = 4;
const MODE_64 = 8;
const INS_SYSCALL = 699;
const HOOK = { interrupt: 1, instruction: 2, block: 8, fault: 0x3f0, access: 0xc00 } as const;
const TWO32 = 0x1_0000_0000;
const PAGE = 4096;

const low = (address: number): number => address | 0;
const high = (address: number): number => (address / TWO32) | 0;

/** An address no program has and no block starts at: where Unicorn would stop by itself. */
const NOWHERE = { low: 0, high: 0x00ff_0000 } as const;

class JsBlock implements HostBlock {
  readonly size: number;
  readonly pointer: number;
  private readonly module: UnicornModule;
  private cached: Uint8Array;

  constructor(module: UnicornModule, pointer: number, size: number) {
    this.module = module;
    this.pointer = pointer;
    this.size = size;
    this.cached = module.HEAPU8.subarray(pointer, pointer + size);
  }

  view(): Uint8Array {
    const heap = this.module.HEAPU8;
    if (heap.buffer !== this.cached.buffer)
      this.cached = heap.subarray(this.pointer, this.pointer + this.size);
    return this.cached;
  }
}

class JsCpu implements UnicornCpu {
  private readonly module: UnicornModule;
  private readonly uc: number;
  /** Scratch for register values and small results. */
  private readonly scratch: number;
  private readonly callbacks: number[] = [];
  private readonly blocks = new Map<HostBlock, number>();

  constructor(module: UnicornModule, hooks: Hooks) {
    this.module = module;
    this.scratch = module._malloc(64);
    this.check(module._uc_open(ARCH_X86, MODE_64, this.scratch), 'uc_open');
    this.uc = module.HEAPU32[this.scratch >>> 2] ?? 0;
    this.addHook(HOOK.interrupt, 'viii', (_uc, vector) => hooks.interrupt(vector ?? 0));
    this.addHook(HOOK.instruction, 'vii', () => hooks.syscall(), INS_SYSCALL);
    this.addHook(HOOK.fault, 'iiiiiiiii', (_uc, type, addressLow, addressHigh, size) => {
      const address = (BigInt(addressHigh! >>> 0) << 32n) | BigInt(addressLow! >>> 0);
      return hooks.fault(type!, address, size!) ? 1 : 0;
    });
    // A memory hook, even out of reach, makes RIP exact at integer accesses that fail.
    this.addHook(HOOK.access, 'viiiiiiii', () => {}, 0, true);
  }

  private addHook(
    type: number,
    signature: string,
    callback: (...args: number[]) => unknown,
    instruction = 0,
    outOfReach = false,
  ): void {
    const pointer = this.module.addFunction(callback, signature);
    this.callbacks.push(pointer);
    // begin > end means everywhere
    const [begin, end] = outOfReach ? [0xfff0_0000 | 0, 0xfff0_0000 | 0] : [1, 0];
    this.check(
      this.module._uc_hook_add(
        this.uc,
        this.scratch,
        type,
        pointer,
        0,
        outOfReach ? 0 : begin,
        outOfReach ? begin : 0,
        0,
        end,
        instruction,
      ),
      'uc_hook_add',
    );
  }

  private check(result: number, what: string): void {
    if (result !== 0) throw new TraplineError('internal', `unicorn: ${what} answered ${result}`);
  }

  allocate(size: number): HostBlock {
    const raw = this.module._malloc(size + PAGE);
    if (raw === 0)
      throw new TraplineError('engine-limit', `engine unicorn has no ${size} bytes left`);
    const block = new JsBlock(this.module, (raw + PAGE - 1) & -PAGE, size);
    this.blocks.set(block, raw);
    return block;
  }

  free(block: HostBlock): void {
    const raw = this.blocks.get(block);
    if (raw === undefined) return;
    this.blocks.delete(block);
    this.module._free(raw);
  }

  map(address: number, size: number, prot: number, block: HostBlock, offset: number): void {
    const pointer = (block as JsBlock).pointer + offset;
    this.check(
      this.module._uc_mem_map_ptr(this.uc, low(address), high(address), size, prot, pointer),
      'uc_mem_map_ptr',
    );
  }

  unmap(address: number, size: number): void {
    this.check(
      this.module._uc_mem_unmap(this.uc, low(address), high(address), size),
      'uc_mem_unmap',
    );
  }

  forgetCode(address: number, size: number): void {
    // Writing the bytes that are already there drops the translations over them.
    const copy = this.module._malloc(size);
    this.module._uc_mem_read(this.uc, low(address), high(address), copy, size);
    this.module._uc_mem_write(this.uc, low(address), high(address), copy, size);
    this.module._free(copy);
  }

  readRegister(id: number): bigint {
    const at = this.scratch >>> 2;
    this.module.HEAPU32[at] = 0;
    this.module.HEAPU32[at + 1] = 0;
    this.module._uc_reg_read(this.uc, id, this.scratch);
    const heap = this.module.HEAPU32;
    return (BigInt(heap[at + 1]!) << 32n) | BigInt(heap[at]!);
  }

  writeRegister(id: number, value: bigint): void {
    const at = this.scratch >>> 2;
    this.module.HEAPU32[at] = Number(value & 0xffff_ffffn);
    this.module.HEAPU32[at + 1] = Number((value >> 32n) & 0xffff_ffffn);
    this.module._uc_reg_write(this.uc, id, this.scratch);
  }

  readRegisterBytes(id: number, into: Uint8Array): void {
    this.module.HEAPU8.fill(0, this.scratch, this.scratch + into.length);
    this.module._uc_reg_read(this.uc, id, this.scratch);
    into.set(this.module.HEAPU8.subarray(this.scratch, this.scratch + into.length));
  }

  writeRegisterBytes(id: number, bytes: Uint8Array): void {
    this.module.HEAPU8.fill(0, this.scratch, this.scratch + 64);
    this.module.HEAPU8.set(bytes, this.scratch);
    this.module._uc_reg_write(this.uc, id, this.scratch);
  }

  start(rip: bigint): number {
    const from = BigInt.asIntN(64, rip);
    return this.module._uc_emu_start(
      this.uc,
      Number(BigInt.asIntN(32, from)),
      Number(from >> 32n) | 0,
      NOWHERE.low,
      NOWHERE.high,
      0,
      0,
      0,
    );
  }

  stop(): void {
    this.module._uc_emu_stop(this.uc);
  }

  close(): void {
    this.module._uc_close(this.uc);
    for (const callback of this.callbacks) this.module.removeFunction(callback);
    for (const raw of this.blocks.values()) this.module._free(raw);
    this.module._free(this.scratch);
    this.blocks.clear();
  }
}

/** Wraps a loaded JavaScript build. */
export const javascriptLibrary = (module: UnicornModule): UnicornLibrary => ({
  open: (hooks) => new JsCpu(module, hooks),
});
