import { readFileSync } from 'node:fs';
import {
  FETCH_PROTECTED,
  type Hooks,
  type HostBlock,
  type LibraryMemory,
  MISSING_REGION,
  type UnicornCpu,
  type UnicornLibrary,
} from '../../cpu/unicorn/binding.ts';
import { blockFilter } from './block-filter.ts';

const LIBRARY = 'libunicorn.so.2';
const ARCH_X86 = 4;
const MODE_64 = 8;
const INS_SYSCALL = 699;
const HOOK = { interrupt: 1, instruction: 2, block: 8, fault: 0x3f0 } as const;
const PAGE = 4096;
/** The CPU's state lies within this distance of where its handle points to. */
const REACH = 0x2_0000n;
const HANDLE_SIZE = 0x800;
/** uc_ctl(UC_CTL_TB_REMOVE_CACHE), written with two arguments. */
const REMOVE_CACHE = (1 << 30) | (2 << 26) | 9 | 0;

type Koffi = typeof import('koffi').default;
type Handle = unknown;

const bind = (koffi: Koffi) => {
  const library = koffi.load(LIBRARY);
  const named = (text: string) => library.func(text);
  return {
    koffi,
    open: named('int uc_open(int arch, int mode, _Out_ void **uc)'),
    close: named('int uc_close(void *uc)'),
    mapPointer: named(
      'int uc_mem_map_ptr(void *uc, uint64_t address, size_t size, uint32_t perms, void *ptr)',
    ),
    protect: named('int uc_mem_protect(void *uc, uint64_t address, size_t size, uint32_t perms)'),
    unmap: named('int uc_mem_unmap(void *uc, uint64_t address, size_t size)'),
    readRegister: named('int uc_reg_read(void *uc, int id, void *value)'),
    writeRegister: named('int uc_reg_write(void *uc, int id, void *value)'),
    start: named(
      'int uc_emu_start(void *uc, uint64_t begin, uint64_t until, uint64_t timeout, size_t count)',
    ),
    stop: named('int uc_emu_stop(void *uc)'),
    addHook: named(
      'int uc_hook_add(void *uc, _Out_ size_t *hook, int type, void *callback, void *data, uint64_t begin, uint64_t end, ...)',
    ),
    control: named('int uc_ctl(void *uc, int control, ...)'),
    callbacks: {
      // Only what is used, and as numbers: each argument costs time, a pointer most.
      interrupt: koffi.pointer(koffi.proto('void uc_on_interrupt(int uc, uint32_t n)')),
      instruction: koffi.pointer(koffi.proto('void uc_on_instruction()')),
      block: koffi.pointer(koffi.proto('void uc_on_block(int uc, int64_t address, uint32_t size)')),
      fault: koffi.pointer(
        koffi.proto('bool uc_on_fault(int uc, int type, int64_t address, int size)'),
      ),
    },
  };
};

type Functions = ReturnType<typeof bind>;

class NativeBlock implements HostBlock {
  readonly size: number;
  private readonly bytes: Uint8Array;

  constructor(koffi: Koffi, size: number) {
    this.size = size;
    const raw = new Uint8Array(size + PAGE);
    const misfit = Number(koffi.address(raw) % BigInt(PAGE));
    const from = misfit === 0 ? 0 : PAGE - misfit;
    this.bytes = raw.subarray(from, from + size);
  }

  view(): Uint8Array {
    return this.bytes;
  }
}

/** Ranges of this process's memory that can be read and written. */
const writableRanges = (): [bigint, bigint][] =>
  [...readFileSync('/proc/self/maps', 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)].map(
    ([, start, end]) => [BigInt(`0x${start}`), BigInt(`0x${end}`)],
  );

class NativeMemory implements LibraryMemory {
  private readonly cachedWords: Int32Array;
  private readonly cachedLongs: BigUint64Array;

  constructor(buffer: ArrayBuffer) {
    this.cachedWords = new Int32Array(buffer);
    this.cachedLongs = new BigUint64Array(buffer);
  }

  words(): Int32Array {
    return this.cachedWords;
  }

  longs(): BigUint64Array {
    return this.cachedLongs;
  }
}

class NativeCpu implements UnicornCpu {
  readonly windowSize = 0x20_0000;
  readonly zeroed = true;
  readonly announcesFetches = true;
  private readonly uc: Handle;
  private readonly lib: Functions;
  private readonly callbacks: bigint[] = [];
  /** Unicorn holds pointers into these. */
  private readonly blocks = new Set<HostBlock>();
  private readonly value = new Uint8Array(64);
  private readonly words = new BigUint64Array(this.value.buffer);

  constructor(lib: Functions, hooks: Hooks, table: Uint8Array) {
    this.lib = lib;
    const out: Handle[] = [null];
    this.check(lib.open(ARCH_X86, MODE_64, out), 'uc_open');
    this.uc = out[0];
    const { callbacks } = lib;
    const onInterrupt = (_uc: number, n: number) => hooks.interrupt(n);
    this.addHook(HOOK.interrupt, this.register(callbacks.interrupt, onInterrupt));
    const onSyscall = () => hooks.syscall();
    this.addHook(HOOK.instruction, this.register(callbacks.instruction, onSyscall), INS_SYSCALL);
    const onBlock = (_uc: number, address: number, size: number) => hooks.block(address, size);
    const block = this.register(callbacks.block, onBlock);
    this.addHook(HOOK.block, blockFilter(lib.koffi, table, block), 0, table);
    const onFault = (_uc: number, type: number, address: bigint | number, size: number) => {
      if (type === FETCH_PROTECTED) hooks.fetch(Number(address), size);
      return !MISSING_REGION.has(type) || hooks.regionMissing(BigInt.asUintN(64, BigInt(address)));
    };
    this.addHook(HOOK.fault, this.register(callbacks.fault, onFault));
  }

  private register(
    prototype: ReturnType<Koffi['pointer']>,
    callback: Parameters<Koffi['register']>[0],
  ): bigint {
    const pointer = this.lib.koffi.register(callback, prototype);
    this.callbacks.push(pointer);
    return pointer;
  }

  private addHook(
    type: number,
    pointer: bigint,
    instruction = 0,
    data: Uint8Array | null = null,
  ): void {
    // begin > end means everywhere
    this.check(
      this.lib.addHook(this.uc, [0], type, pointer, data, 1n, 0n, 'int', instruction),
      'uc_hook_add',
    );
  }

  private check(result: number, what: string): void {
    if (result !== 0) throw new Error(`unicorn-native: ${what} answered ${result}`);
  }

  allocate(size: number): HostBlock {
    const block = new NativeBlock(this.lib.koffi, size);
    this.blocks.add(block);
    return block;
  }

  free(block: HostBlock): void {
    this.blocks.delete(block);
  }

  map(address: number, prot: number, block: HostBlock): void {
    const { uc, lib } = this;
    this.check(
      lib.mapPointer(uc, BigInt(address), block.size, prot, block.view()),
      'uc_mem_map_ptr',
    );
  }

  protect(address: number, size: number, prot: number): void {
    this.check(this.lib.protect(this.uc, BigInt(address), size, prot), 'uc_mem_protect');
  }

  unmap(address: number, size: number): void {
    this.check(this.lib.unmap(this.uc, BigInt(address), size), 'uc_mem_unmap');
  }

  forgetCode(address: number, size: number): void {
    const from = BigInt(address);
    this.lib.control(this.uc, REMOVE_CACHE, 'uint64_t', from, 'uint64_t', from + BigInt(size));
  }

  readRegister(id: number): bigint {
    this.words[0] = 0n;
    this.lib.readRegister(this.uc, id, this.value);
    return this.words[0];
  }

  writeRegister(id: number, value: bigint): void {
    this.words[0] = value;
    this.lib.writeRegister(this.uc, id, this.value);
  }

  readRegisterBytes(id: number, into: Uint8Array): void {
    this.value.fill(0);
    this.lib.readRegister(this.uc, id, this.value);
    into.set(this.value.subarray(0, into.length));
  }

  writeRegisterBytes(id: number, bytes: Uint8Array): void {
    this.value.fill(0);
    this.value.set(bytes);
    this.lib.writeRegister(this.uc, id, this.value);
  }

  *reachableMemory(): Iterable<LibraryMemory> {
    const { koffi } = this.lib;
    const ranges = writableRanges();
    const handle = new BigUint64Array(koffi.view(this.uc, HANDLE_SIZE));
    for (const pointer of handle) {
      const range = ranges.find(([start, end]) => pointer >= start && pointer < end);
      if (range === undefined || pointer % 8n !== 0n) continue;
      const rest = (range[1] - pointer) & ~7n;
      yield new NativeMemory(koffi.view(pointer, Number(rest < REACH ? rest : REACH)));
    }
  }

  start(rip: bigint, until: bigint): number {
    return this.lib.start(this.uc, rip, until, 0, 0);
  }

  stop(): void {
    this.lib.stop(this.uc);
  }

  close(): void {
    this.lib.close(this.uc);
    for (const callback of this.callbacks) this.lib.koffi.unregister(callback);
    this.callbacks.length = 0;
  }
}

let functions: Functions | undefined;

/**
 * Binds libunicorn through koffi, once a process (koffi knows each prototype by its name).
 * @throws when koffi or the library is not there
 */
export const loadNativeUnicorn = async (): Promise<UnicornLibrary> => {
  functions ??= bind((await import('koffi')).default);
  const lib = functions;
  return { open: (hooks, table) => new NativeCpu(lib, hooks, table) };
};
