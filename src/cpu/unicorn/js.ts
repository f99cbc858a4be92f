import { TraplineError } from '../../base/errors.ts';
import {
  type Hooks,
  type HostBlock,
  type LibraryMemory,
  MISSING_REGION,
  type UnicornCpu,
  type UnicornLibrary,
} from './binding.ts';

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
  _uc_mem_protect(uc: number, low: number, high: number, size: number, prot: number): number;
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
const HOOK = { interrupt: 1, instruction: 2, block: 8, fault: 0x3f0 } as const;
const TWO32 = 0x1_0000_0000;
const PAGE = 4096;

const halves = (value: bigint): [number, number] => [
  Number(BigInt.asIntN(32, value)),
  Number(BigInt.asIntN(32, value >> 32n)),
];
const low = (address: number): number => address | 0;
const high = (address: number): number => (address / TWO32) | 0;

/** The CPU's state lies within this distance of where its handle points to. */
const REACH = 0x1_0000;
const HANDLE_SIZE = 0x800;
/** Code written again, piece by piece, to have its translations dropped. */
const REWRITE = 4096;

/** Begin 1, end 0, as halves: Unicorn takes begin > end for everywhere. */
const EVERYWHERE = [1, 0, 0, 0] as const;

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

/** Part of the heap, which moves when it grows. */
class HeapWindow implements LibraryMemory {
  private readonly module: UnicornModule;
  private readonly pointer: number;
  private readonly size: number;
  private cachedWords: Int32Array;
  private cachedLongs: BigUint64Array;

  constructor(module: UnicornModule, pointer: number, size: number) {
    this.module = module;
    this.pointer = pointer;
    this.size = size;
    const { buffer } = module.HEAPU8;
    this.cachedWords = new Int32Array(buffer, pointer, size / 4);
    this.cachedLongs = new BigUint64Array(buffer, pointer, size / 8);
  }

  words(): Int32Array {
    if (this.module.HEAPU8.buffer !== this.cachedWords.buffer) this.renew();
    return this.cachedWords;
  }

  longs(): BigUint64Array {
    if (this.module.HEAPU8.buffer !== this.cachedLongs.buffer) this.renew();
    return this.cachedLongs;
  }

  private renew(): void {
    const { buffer } = this.module.HEAPU8;
    this.cachedWords = new Int32Array(buffer, this.pointer, this.size / 4);
    this.cachedLongs = new BigUint64Array(buffer, this.pointer, this.size / 8);
  }
}

class JsCpu implements UnicornCpu {
  readonly windowSize = 0x4_0000;
  readonly zeroed = false;
  readonly announcesFetches = false;
  private readonly module: UnicornModule;
  private readonly uc: number;
  /** Scratch for register values and small results. */
  private readonly scratch: number;
  private readonly rewrite: number;
  private readonly callbacks: number[] = [];
  private readonly blocks = new Map<HostBlock, number>();

  constructor(module: UnicornModule, hooks: Hooks) {
    this.module = module;
    this.scratch = module._malloc(64);
    this.rewrite = module._malloc(REWRITE);
    this.check(module._uc_open(ARCH_X86, MODE_64, this.scratch), 'uc_open');
    this.uc = module.HEAPU32[this.scratch >>> 2] ?? 0;
    this.addHook(HOOK.interrupt, 'viii', (_uc, vector) => hooks.interrupt(vector ?? 0));
    this.addHook(HOOK.instruction, 'vii', () => hooks.syscall(), INS_SYSCALL);
    this.addHook(HOOK.block, 'viiiii', (_uc, addressLow, addressHigh, size) =>
      hooks.block(addressHigh! * TWO32 + (addressLow! >>> 0), size!),
    );
    this.addHook(HOOK.fault, 'iiiiiiiii', (_uc, type, addressLow, addressHigh) => {
      if (!MISSING_REGION.has(type!)) return 1;
      const address = (BigInt(addressHigh! >>> 0) << 32n) | BigInt(addressLow! >>> 0);
      return hooks.regionMissing(address) ? 1 : 0;
    });
  }

  private addHook(
    type: number,
    signature: string,
    callback: (...args: number[]) => unknown,
    instruction = 0,
  ): void {
    const pointer = this.module.addFunction(callback, signature);
    this.callbacks.push(pointer);
    const added = this.module._uc_hook_add(
      this.uc,
      this.scratch,
      type,
      pointer,
      0,
      ...EVERYWHERE,
      instruction,
    );
    this.check(added, 'uc_hook_add');
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

  map(address: number, prot: number, block: HostBlock): void {
    const { pointer } = block as JsBlock;
    this.check(
      this.module._uc_mem_map_ptr(this.uc, low(address), high(address), block.size, prot, pointer),
      'uc_mem_map_ptr',
    );
  }

  unmap(address: number, size: number): void {
    this.check(
      this.module._uc_mem_unmap(this.uc, low(address), high(address), size),
      'uc_mem_unmap',
    );
  }

  protect(address: number, size: number, prot: number): void {
    this.check(
      this.module._uc_mem_protect(this.uc, low(address), high(address), size, prot),
      'uc_mem_protect',
    );
  }

  forgetCode(address: number, size: number): void {
    // Writing the bytes that are already there drops the translations over them.
    const { module, uc, rewrite } = this;
    for (let at = address; at < address + size; at += REWRITE) {
      const length = Math.min(REWRITE, address + size - at);
      module._uc_mem_read(uc, low(at), high(at), rewrite, length);
      module._uc_mem_write(uc, low(at), high(at), rewrite, length);
    }
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

  *reachableMemory(): Iterable<LibraryMemory> {
    const pointers = this.module.HEAPU32.slice(this.uc >>> 2, (this.uc + HANDLE_SIZE) >>> 2);
    for (const pointer of pointers) {
      const size = Math.min(REACH, this.module.HEAPU8.length - pointer);
      if (pointer > 0 && pointer % 8 === 0 && size > 0)
        yield new HeapWindow(this.module, pointer, size & -8);
    }
  }

  start(rip: bigint, until: bigint): number {
    return this.module._uc_emu_start(this.uc, ...halves(rip), ...halves(until), 0, 0, 0);
  }

  stop(): void {
    this.module._uc_emu_stop(this.uc);
  }

  close(): void {
    this.module._uc_close(this.uc);
    for (const callback of this.callbacks) this.module.removeFunction(callback);
    for (const raw of this.blocks.values()) this.module._free(raw);
    this.module._free(this.scratch);
    this.module._free(this.rewrite);
    this.blocks.clear();
  }
}

/** Wraps a loaded JavaScript build. */
export const javascriptLibrary = (module: UnicornModule): UnicornLibrary => ({
  open: (hooks) => new JsCpu(module, hooks),
});
