// What some tests need beyond npm: how to tell that it is there, which Debian package has it, what for.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const runs = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

const kernelAtLeast = (major, minor) => {
  if (process.platform !== 'linux') return false;
  const [a, b] = readFileSync('/proc/sys/kernel/osrelease', 'utf8').split('.').map(Number);
  return a > major || (a === major && b >= minor);
};

/** Bit 7 of the taint: the kernel has oopsed. It may hold locks for good, and proves nothing any more. */
const hasOopsed = () => (Number(readFileSync('/proc/sys/kernel/tainted', 'utf8')) & 0x80) !== 0;

export const requirements = {
  gcc: {
    apt: 'gcc libc6-dev make',
    why: 'builds the glibc fixtures',
    optional: false,
    present: () => runs('gcc'),
  },
  'sys/sdt.h': {
    apt: 'systemtap-sdt-dev',
    why: 'builds a program with USDT probes',
    optional: false,
    present: () => existsSync('/usr/include/x86_64-linux-gnu/sys/sdt.h'),
  },
  'musl-gcc': {
    apt: 'musl-tools',
    why: 'builds the musl fixtures',
    optional: false,
    present: () => existsSync('/usr/bin/musl-gcc'),
  },
  libunicorn2: {
    apt: 'libunicorn2',
    why: 'the engine unicorn-native',
    optional: false,
    present: () =>
      ['/usr/lib/x86_64-linux-gnu', '/usr/lib', '/usr/local/lib'].some((dir) =>
        existsSync(`${dir}/libunicorn.so.2`),
      ),
  },
  'chromium-headless-shell': {
    apt: 'chromium-headless-shell',
    why: 'runs the library in a browser',
    optional: false,
    present: () => existsSync('/usr/bin/chromium-headless-shell'),
  },
  'kernel 6.18 as root': {
    apt: 'nothing helps',
    why: 'compares with this machine’s own kernel, which must not have oopsed',
    optional: true,
    present: () =>
      kernelAtLeast(6, 18) &&
      !hasOopsed() &&
      process.getuid?.() === 0 &&
      existsSync('/sys/bus/event_source/devices/uprobe/type'),
  },
};
