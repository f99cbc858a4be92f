import type { ErrnoName } from '../../abi/errno.ts';
import { kernelAttributes } from './file-attributes.ts';
import { ALWAYS_READY, type OpenFile, type Transfer } from './open-file.ts';
import type { Attributes, DeviceNumber, DirectoryEntry, FileTree } from './tree.ts';

/** Fills with the next bytes of the machine's seeded generator. */
export type RandomSource = (into: Uint8Array) => void;

const DEV = { major: 0, minor: 5 };

/** What reading and writing a memory device does (drivers/char/mem.c). */
interface Driver {
  readonly number: DeviceNumber;
  readonly read: (into: Uint8Array) => Transfer;
  readonly write: (bytes: Uint8Array) => Transfer;
  readonly mapsZeroes?: true;
  readonly discards?: true;
}

const zeroes = (into: Uint8Array): number => into.fill(0).length;
const swallow = (bytes: Uint8Array): number => bytes.length;

const driversOf = (random: RandomSource): Readonly<Record<string, Driver>> => {
  const noise = (into: Uint8Array): number => {
    random(into);
    return into.length;
  };
  return {
    null: { number: { major: 1, minor: 3 }, read: () => 0, write: swallow, discards: true },
    zero: {
      number: { major: 1, minor: 5 },
      read: zeroes,
      write: swallow,
      mapsZeroes: true,
      discards: true,
    },
    full: { number: { major: 1, minor: 7 }, read: zeroes, write: () => 'ENOSPC' },
    random: { number: { major: 1, minor: 8 }, read: noise, write: swallow },
    urandom: { number: { major: 1, minor: 9 }, read: noise, write: swallow },
  };
};

/** Names that lead to descriptors. */
const LINKS: Readonly<Record<string, string>> = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
};

/** Lets a position be set (and ignores it), as the kernel's memory devices do. */
const openDevice = (name: string, driver: Driver, attributes: Attributes): OpenFile => ({
  path: `/dev/${name}`,
  seekable: true,
  attributes: () => attributes,
  read: (_position, into) => driver.read(into),
  write: (_position, bytes) => driver.write(bytes),
  readiness: () => ALWAYS_READY,
  size: () => 0n,
  ...(driver.discards && { discards: true as const }),
  ...(driver.mapsZeroes && { mapping: () => 'zero' as const }),
});

/** The guest's /dev. */
export class DeviceTree implements FileTree {
  readonly domain = this;
  readonly #drivers: Readonly<Record<string, Driver>>;
  readonly #terminal: OpenFile | null;
  readonly #names: readonly string[];

  /** @param terminal what /dev/tty opens; null = the process has no controlling terminal */
  constructor(random: RandomSource, terminal: OpenFile | null) {
    this.#drivers = driversOf(random);
    this.#terminal = terminal;
    this.#names = [...Object.keys(this.#drivers), 'tty', ...Object.keys(LINKS)];
  }

  attributes(path: string): Attributes | ErrnoName {
    if (path === '') return kernelAttributes('directory', 0o755, DEV, 1n);
    const [name = '', ...below] = path.split('/');
    const index = this.#names.indexOf(name);
    if (index < 0) return 'ENOENT';
    if (below.length > 0) return 'ENOTDIR';
    const number = BigInt(index + 2);
    if (name in LINKS) return kernelAttributes('symlink', 0o777, DEV, number);
    const device = this.#drivers[name]?.number ?? { major: 5, minor: 0 };
    return kernelAttributes('char-device', 0o666, DEV, number, device);
  }

  readlink(path: string): { readonly target: string } | ErrnoName {
    const target = LINKS[path];
    return target === undefined ? 'EINVAL' : { target };
  }

  list(path: string): readonly DirectoryEntry[] | ErrnoName {
    if (path !== '') return 'ENOTDIR';
    return this.#names.map((name, index) => ({
      name,
      kind: name in LINKS ? 'symlink' : 'char-device',
      number: BigInt(index + 2),
    }));
  }

  open(): ErrnoName {
    return 'ENXIO';
  }

  /** The mount's way to open a device; undefined = the directory or a link. */
  openSpecial(path: string): OpenFile | ErrnoName | undefined {
    if (path === '' || path in LINKS) return undefined;
    if (path === 'tty') return this.#terminal ?? 'ENXIO';
    const driver = this.#drivers[path];
    const attributes = this.attributes(path);
    if (driver === undefined || typeof attributes === 'string') return 'ENXIO';
    return openDevice(path, driver, attributes);
  }
}
