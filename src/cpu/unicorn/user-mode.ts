/**
 * Unicorn opens at CPL 0. Guest code must run at CPL 3, where privileged instructions are #GP, popf
 * leaves IF and IOPL alone, and CS and SS read 0x33 and 0x2b as under Linux: so the first thing the
 * CPU ever runs is an IRETQ to there.
 */
import { view } from '../../base/bytes.ts';
import { UcReg, type UnicornCpu } from './binding.ts';

/** Linux's own place for the GDT; no user page can lie there. */
const GDT_PAGE = 0xffff_fe00_0000_1000;
const GDT = 0xffff_fe00_0000_1000n;
const CODE_AT = 0x80;
const FRAME_AT = 0x100;
const USER_CS = 0x33n;
const USER_SS = 0x2bn;

/** Descriptors by selector: user data, user 64-bit code; accessed bits set so that nothing writes here. */
const DESCRIPTORS: readonly (readonly [number, bigint])[] = [
  [0x28, 0x00cf_f300_0000_ffffn],
  [0x30, 0x00af_fb00_0000_ffffn],
];

/**
 * Enters CPL 3 with zero registers. The page with the GDT stays: loads of segment registers read it.
 * @param landing where IRETQ goes and the run ends
 */
export const enterUserMode = (cpu: UnicornCpu, landing: bigint): void => {
  const block = cpu.allocate(4096);
  const page = view(block.view());
  for (const [selector, descriptor] of DESCRIPTORS) page.setBigUint64(selector, descriptor, true);
  page.setUint16(CODE_AT, 0xcf48, true);
  const frame = [landing, USER_CS, 0x202n, 0n, USER_SS];
  frame.forEach((value, i) => {
    page.setBigUint64(FRAME_AT + 8 * i, value, true);
  });
  cpu.map(GDT_PAGE, 4096, 5, block, 0);
  const gdtr = new Uint8Array(24);
  view(gdtr).setBigUint64(8, GDT, true);
  view(gdtr).setUint32(16, 0x37, true);
  cpu.writeRegisterBytes(UcReg.gdtr, gdtr);
  cpu.writeRegister(UcReg.general[4], GDT + BigInt(FRAME_AT));
  cpu.start(GDT + BigInt(CODE_AT));
  cpu.writeRegister(UcReg.general[4], 0n);
};
