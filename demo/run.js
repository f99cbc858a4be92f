// `npm run demo`: a real compiled program (calc.c, static x86-64 ELF) under entry and return probes.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const main = here('../dist/cli/main.js');
const words = ['run', '--probes', here('calc.probes'), '--profile', '-o', '-'];
const guest = [here('calc.elf'), '6 * (3 + 4)', '5!'];

const shown = ['trapline', 'run', '--probes', 'calc.probes', '--profile', '-o', '-', 'calc.elf'];
console.log(`$ ${shown.join(' ')} '6 * (3 + 4)' '5!'`);
const { status } = spawnSync(process.execPath, [main, ...words, '--', ...guest], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
