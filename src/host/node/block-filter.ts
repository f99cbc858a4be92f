/**
 * The block hook's usual case as machine code. Unicorn calls the hook before every execution of every block, and
 * each call through koffi costs about 0.3 us; nearly always there is only a number to subtract. This is
 * `BlockTable.passPlain`, for hosts of the System V x86-64 convention; it goes on in JavaScript when that answers no.
 */
import { TableLayout } from '../../cpu/unicorn/block-table.ts';

type Koffi = typeof import('koffi').default;

const { left, lastAddress, attentive, lastCount, slowPath, slots, hashShift, slotMask } =
  TableLayout;

const int32 = (value: number): number[] => [...new Uint8Array(Int32Array.of(value).buffer)];

/** rdi = CPU, rsi = address, edx = size, rcx = the table; only registers that a callee may change are. */
const code = (): Uint8Array => {
  const jumps: number[] = [];
  const bytes: number[] = [];
  const emit = (...more: readonly number[]): void => {
    bytes.push(...more);
  };
  const otherwiseSlow = (condition: number): void => {
    emit(condition, 0);
    jumps.push(bytes.length);
  };
  const JNE = 0x75;
  const JBE = 0x76;
  emit(0x89, 0xf0); // mov eax,esi
  emit(0xc1, 0xe8, hashShift); // shr eax,13
  emit(0x31, 0xf0); // xor eax,esi
  emit(0x25, ...int32(slotMask)); // and eax,mask
  emit(0xc1, 0xe0, 4); // shl eax,4
  emit(0x48, 0x01, 0xc8); // add rax,rcx
  emit(0xf2, 0x48, 0x0f, 0x2a, 0xc6); // cvtsi2sd xmm0,rsi
  emit(0x66, 0x0f, 0x2e, 0x40, slots); // ucomisd xmm0,[rax+slot.address]
  otherwiseSlow(JNE);
  emit(0x39, 0x50, slots + 8); // cmp [rax+slot.size],edx
  otherwiseSlow(JNE);
  emit(0x83, 0x79, attentive, 0); // cmp dword [rcx+attentive],0
  otherwiseSlow(JNE);
  emit(0xf2, 0x0f, 0x10, 0x49, left); // movsd xmm1,[rcx+left]
  emit(0x66, 0x0f, 0x57, 0xd2); // xorpd xmm2,xmm2
  emit(0x66, 0x0f, 0x2e, 0xca); // ucomisd xmm1,xmm2
  otherwiseSlow(JBE);
  emit(0x8b, 0x40, slots + 12); // mov eax,[rax+slot.instructions]
  emit(0xf2, 0x0f, 0x2a, 0xd0); // cvtsi2sd xmm2,eax
  emit(0xf2, 0x0f, 0x5c, 0xca); // subsd xmm1,xmm2
  emit(0xf2, 0x0f, 0x11, 0x49, left); // movsd [rcx+left],xmm1
  emit(0xf2, 0x0f, 0x11, 0x41, lastAddress); // movsd [rcx+lastAddress],xmm0
  emit(0x89, 0x41, lastCount); // mov [rcx+lastCount],eax
  emit(0xc3); // ret
  for (const at of jumps) bytes[at - 1] = bytes.length - at;
  emit(0xff, 0x61, slowPath); // jmp [rcx+slowPath]
  return Uint8Array.from(bytes);
};

const PROT = { read: 1, write: 2, exec: 4 } as const;
const MAP_PRIVATE_ANONYMOUS = 0x22;
const PAGE = 4096;
const FAILED = 0xffff_ffff_ffff_ffffn;

const assemble = (koffi: Koffi): bigint | null => {
  if (process.arch !== 'x64' || process.platform !== 'linux') return null;
  const libc = koffi.load('libc.so.6');
  const map = libc.func(
    'uintptr_t mmap(uintptr_t at, size_t size, int prot, int flags, int fd, int64_t offset)',
  );
  const protect = libc.func('int mprotect(uintptr_t at, size_t size, int prot)');
  const address = BigInt(map(0, PAGE, PROT.read | PROT.write, MAP_PRIVATE_ANONYMOUS, -1, 0));
  if (address === FAILED) return null;
  new Uint8Array(koffi.view(address, PAGE)).set(code());
  return protect(address, PAGE, PROT.read | PROT.exec) === 0 ? address : null;
};

let filter: bigint | null | undefined;

/**
 * The address of the hook to give to Unicorn, with the table as its data.
 * @param callback the hook in JavaScript
 */
export const blockFilter = (koffi: Koffi, table: Uint8Array, callback: bigint): bigint => {
  if (filter === undefined) filter = assemble(koffi);
  if (filter === null) return callback;
  new DataView(table.buffer).setBigUint64(slowPath, callback, true);
  return filter;
};
