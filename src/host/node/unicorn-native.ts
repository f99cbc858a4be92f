import type { Hooks, HostBlock, UnicornCpu, UnicornLibrary } from '../../cpu/unicorn/binding.ts';

const LIBRARY = 'libunicorn.so.2';
const ARCH_X86 = 4;
const MODE_64 = 8;
const INS_SYSCALL = 699;
const HOOK = { interrupt: 1, instruction: 2, block: 8, fault: 0x3f0, access: 0xc00 } as const;
const PAGE = 4096;
/** `until` of uc_emu_start: no program can have a page there. */
const NOWHERE = 0x7fff_ffff_f000n;
const OUT_OF_REACH = 0xfff0_0000_0000_0000n;
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
      interrupt: koffi.pointer(
        koffi.proto('void uc_on_interrupt(void *uc, uint32_t n, void *data)'),
      ),
      instruction: koffi.pointer(koffi.proto('void uc_on_instruction(void *uc, void *data)')),
      block: koffi.pointer(
        koffi.proto('void uc_on_block(void *uc, uint64_t address, uint32_t size, void *data)'),
      ),
      fault: koffi.pointer(
        koffi.proto(
          'bool uc_on_fault(void *uc, int type, uint64_t address, int size, int64_t value, void *data)',
        ),
      ),
      access: koffi.pointer(
        koffi.proto(
          'void uc_on_access(void *uc, int type, uint64_t address, int size, int64_t value, void *data)',
        ),
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

class NativeCpu implements UnicornCpu {
  private readonly uc: Handle;
  private readonly lib: Functions;
  private readonly callbacks: bigint[] = [];
  private readonly value = new Uint8Array(64);
  private readonly words = new BigUint64Array(this.value.buffer);

  constructor(lib: Functions, hooks: Hooks) {
    this.lib = lib;
    const out: Handle[] = [null];
    this.check(lib.open(ARCH_X86, MODE_64, out), 'uc_open');
    this.uc = out[0];
    const { callbacks } = lib;
    this.addHook(HOOK.interrupt, callbacks.interrupt, (_uc: Handle, n: number) =>
      hooks.interrupt(n),
    );
    this.addHook(HOOK.instruction, callbacks.instruction, () => hooks.syscall(), INS_SYSCALL);
    this.addHook(
      HOOK.fault,
      callbacks.fault,
      // koffi hands over values above 2^63 as negative ones
      (_uc: Handle, type: number, address: bigint | number, size: number) =>
        hooks.fault(type, BigInt.asUintN(64, BigInt(address)), size),
    );
    // A memory hook, even out of reach, makes RIP exact at integer accesses that fail.
    this.addHook(HOOK.access, callbacks.access, () => {}, 0, OUT_OF_REACH);
  }

  private addHook(
    type: number,
    prototype: ReturnType<Koffi['pointer']>,
    callback: Parameters<Koffi['register']>[0],
    instruction = 0,
    only?: bigint,
  ): void {
    const pointer = this.lib.koffi.register(callback, prototype);
    this.callbacks.push(pointer);
    const [begin, end] = only === undefined ? [1n, 0n] : [only, only];
    const hook = [0];
    this.check(
      this.lib.addHook(this.uc, hook, type, pointer, null, begin, end, 'int', instruction),
      'uc_hook_add',
    );
  }

  private check(result: number, what: string): void {
    if (result !== 0) throw new Error(`unicorn-native: ${what} answered ${result}`);
  }

  allocate(size: number): HostBlock {
    return new NativeBlock(this.lib.koffi, size);
  }

  free(): void {
    // the garbage collector's affair
  }

  map(address: number, size: number, prot: number, block: HostBlock, offset: number): void {
    const bytes = block.view().subarray(offset, offset + size);
    this.check(this.lib.mapPointer(this.uc, BigInt(address), size, prot, bytes), 'uc_mem_map_ptr');
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

  start(rip: bigint): number {
    return this.lib.start(this.uc, rip, NOWHERE, 0, 0);
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
  return { open: (hooks) => new NativeCpu(lib, hooks) };
};
