import { TraplineError } from '../base/errors.ts';
import type { PathKind, Site } from '../consumers/event/site.ts';
import { PROGRAM_PATH } from '../consumers/event/site.ts';
import { usdtSites } from '../consumers/usdt/notes.ts';
import { ElfImage } from '../elf/image.ts';
import type { FileView } from '../kernel/files/file-view.ts';
import type { Inode } from '../memory/backing.ts';

/** One place of a file that a probe goes to. */
export interface Place {
  readonly inode: Inode;
  /** Guest path, absolute. */
  readonly path: string;
  readonly offset: bigint;
  /** File offset of the reference counter; 0 = none. */
  readonly refCtr: bigint;
}

/** Finds files and symbols that probes name, in the guest's file view. */
export class Locator {
  readonly #files: FileView;
  readonly #program: string;
  readonly #base: string;
  readonly #images = new WeakMap<Inode, ElfImage>();

  /**
   * @param program absolute path of the program, what `@` stands for
   * @param base absolute directory that relative paths start from
   */
  constructor(files: FileView, program: string, base: string) {
    this.#files = files;
    this.#program = program;
    this.#base = base;
  }

  /** What a definition's path leads to; the look-up the definition parser asks for. */
  kindOf(path: string): PathKind {
    const inode = this.#files.inode(this.#absolute(path));
    if (typeof inode !== 'string') return 'regular';
    return inode === 'EISDIR' || inode === 'EACCES' ? 'other' : inode;
  }

  /** Every place a site stands for. Throws `bad-probe`. */
  places(site: Site): readonly Place[] {
    const path = this.#absolute(site.path);
    const inode = this.#inode(path);
    const at = (offset: bigint): Place => ({ inode, path, offset, refCtr: site.refCtr });
    const { spot } = site;
    switch (spot.kind) {
      case 'offset':
        return [at(spot.offset)];
      case 'symbol':
        return [at(this.#symbolOffset(inode, spot.symbol) + spot.addend)];
      case 'usdt':
        return this.#usdtPlaces(inode, spot.provider, spot.name);
    }
  }

  /** The parsed file; parsed once. Throws `bad-elf`. */
  image(inode: Inode): ElfImage {
    const known = this.#images.get(inode);
    if (known !== undefined) return known;
    const bytes = new Uint8Array(Number(inode.size));
    const image = ElfImage.parse(bytes.subarray(0, inode.read(0n, bytes)), inode.path);
    this.#images.set(inode, image);
    return image;
  }

  #symbolOffset(inode: Inode, symbol: string): bigint {
    const found = this.image(inode).findFunction(symbol);
    if (found !== undefined) return found.offset;
    throw new TraplineError('bad-probe', `${inode.path} has no function ${symbol}`, {
      errno: 'ENOENT',
      hint: `\`trapline list ${inode.path}\` shows what there is`,
    });
  }

  #usdtPlaces(inode: Inode, provider: string, name: string): readonly Place[] {
    const sites = usdtSites(this.image(inode)).filter(
      (site) => site.provider === provider && site.name === name,
    );
    if (sites.length > 0)
      return sites.map(({ offset, semaphore }) => ({
        inode,
        path: inode.path,
        offset,
        refCtr: semaphore,
      }));
    throw new TraplineError('bad-probe', `${inode.path} has no USDT probe ${provider}:${name}`, {
      errno: 'ENOENT',
      hint: `\`trapline list ${inode.path}\` shows what there is`,
    });
  }

  #inode(path: string): Inode {
    const inode = this.#files.inode(path);
    if (typeof inode !== 'string') return inode;
    throw new TraplineError('bad-probe', `${path} is not in the guest's file view (${inode})`, {
      errno: inode,
      hint: 'show it to the guest with --root or --mount',
    });
  }

  #absolute(path: string): string {
    if (path === PROGRAM_PATH) return this.#program;
    return path.startsWith('/') ? path : `${this.#base.replace(/\/$/, '')}/${path}`;
  }
}
