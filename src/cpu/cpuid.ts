import { type Engine, Prot, Reg } from './engine.ts';

/** Scratch page for the two instructions; unmapped again. */
const PAGE = 0x10000n;
/** cpuid; int3 */
const CODE = Uint8Array.of(0x0f, 0xa2, 0xcc);

/** eax, ebx, ecx, edx of a CPUID leaf. */
export interface CpuidLeaf {
  readonly eax: number;
  readonly ebx: number;
  readonly ecx: number;
  readonly edx: number;
}

/**
 * Asks the engine by executing the instruction, as the kernel does at boot. Preconditions: nothing is
 * mapped at 0x10000 and no task runs yet; the registers are left changed.
 */
export const cpuid = (engine: Engine, leaf: number, subleaf = 0): CpuidLeaf => {
  const { regs } = engine;
  engine.map(PAGE, 4096n, Prot.Read | Prot.Exec);
  engine.poke(PAGE, CODE);
  regs.write(Reg.Rax, BigInt(leaf));
  regs.write(Reg.Rcx, BigInt(subleaf));
  regs.write(Reg.Rip, PAGE);
  engine.run(() => 'stop');
  engine.unmap(PAGE, 4096n);
  const low = (reg: Reg): number => Number(BigInt.asUintN(32, regs.read(reg)));
  return { eax: low(Reg.Rax), ebx: low(Reg.Rbx), ecx: low(Reg.Rcx), edx: low(Reg.Rdx) };
};
