/**
 * Unicorn opens at CPL 0 without paging. Guest code must run at CPL 3, where privileged instructions are
 * #GP, popf leaves IF and IOPL alone, and CS and SS read 0x33 and 0x2b as under Linux: so the first thing
 * the CPU ever runs is an IRETQ to there.
 */
import { view } from '../../base/bytes.ts';
import { Prot } from '../engine.ts';
import { UcReg, type UnicornCpu } from './binding.ts';
import { type PageTables, Pte } from './page-tables.ts';

/** Linux's own place for the GDT (the CPU entry area); no user page can lie there. */
const KERNEL_WINDOW = 0xffff_fe00_0000_0000;
const GDT = 0x1000;
const CODE = 0x1100;
const FRAME = 0x1200;
const LANDING = 0x1800;
const USER_CS = 0x33n;
const USER_SS = 0x2bn;
const RFLAGS = 0x202n;

/** Descriptors by selector: user data, user 64-bit code; accessed bits set so that nothing writes here. */
const DESCRIPTORS: readonly (readonly [number, bigint])[] = [
  [0x28, 0x00cf_f300_0000_ffffn],
  [0x30, 0x00af_fb00_0000_ffffn],
];
/** PE MP ET NE WP PG: as Linux, but for AM, which QEMU does not know. */
const CR0 = 0x8001_0033n;
/** PAE PGE OSFXSR OSXMMEXCPT. */
const CR4 = 0x6a0n;

const at = (offset: number): bigint => BigInt(KERNEL_WINDOW) + BigInt(offset);

/** Where a run would end by itself; user code cannot get there, the page is the kernel's. */
export const NOWHERE = at(LANDING);

/**
 * Turns paging on and enters CPL 3 with zero registers and the FPU as execve(2) leaves it.
 * @returns makes the CPU forget the addresses it has translated: a change of any region does that
 */
export const enterUserMode = (cpu: UnicornCpu, tables: PageTables): (() => void) => {
  const block = cpu.allocate(cpu.windowSize);
  const bytes = view(block.view().fill(0));
  for (const [selector, descriptor] of DESCRIPTORS)
    bytes.setBigUint64(GDT + selector, descriptor, true);
  bytes.setUint16(CODE, 0xcf48, true);
  [NOWHERE, USER_CS, RFLAGS, 0n, USER_SS].forEach((value, i) => {
    bytes.setBigUint64(FRAME + 8 * i, value, true);
  });
  cpu.map(KERNEL_WINDOW, 7, block);
  tables.set(KERNEL_WINDOW + GDT, Pte.present | Pte.accessed);

  const gdtr = new Uint8Array(24);
  view(gdtr).setBigUint64(8, at(GDT), true);
  view(gdtr).setUint32(16, 0x37, true);
  cpu.writeRegisterBytes(UcReg.gdtr, gdtr);
  cpu.writeRegister(UcReg.cr4, CR4);
  cpu.writeRegister(UcReg.cr3, tables.physical);
  cpu.writeRegister(UcReg.cr0, CR0);
  cpu.writeRegister(UcReg.fpcw, 0x37fn);
  cpu.writeRegister(UcReg.mxcsr, 0x1f80n);
  cpu.writeRegister(UcReg.fptag, 0xffffn);
  cpu.writeRegister(UcReg.general[4], at(FRAME));
  cpu.start(at(CODE), NOWHERE);
  cpu.writeRegister(UcReg.general[4], 0n);
  cpu.writeRegister(UcReg.rip, 0n);
  let prot = 7;
  return () => {
    prot ^= Prot.Write;
    cpu.protect(KERNEL_WINDOW, cpu.windowSize, prot);
  };
};
