import type { ErrnoName } from '../abi/errno.ts';
import type { TraplineError } from '../base/errors.ts';
import type { PathKind, Site } from '../consumers/event/site.ts';
import { PROGRAM_PATH } from '../consumers/event/site.ts';
import { ElfImage } from '../elf/image.ts';
import type { FileView } from '../kernel/files/file-view.ts';
import type { Inode } from '../memory/backing.ts';
import { findSymbol, findUsdt, isNoPlace, type NoPlace } from './names.ts';
import { badProbe } from './refusal.ts';

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

  /** The guest path that a definition's path means. */
  absolute(path: string): string {
    if (path === PROGRAM_PATH) return this.#program;
    return path.startsWith('/') ? path : `${this.#base.replace(/\/$/, '')}/${path}`;
  }

  /** The file of a path as definitions write it. */
  inode(path: string): Inode | ErrnoName {
    return this.#files.inode(this.absolute(path));
  }

  /** What a definition's path leads to; the look-up the definition parser asks for. */
  kindOf(path: string): PathKind {
    const inode = this.inode(path);
    if (typeof inode !== 'string') return 'regular';
    return inode === 'EISDIR' || inode === 'EACCES' ? 'other' : inode;
  }

  /**
   * Every place a site stands for.
   * @param probe how messages name the probe
   * @throws TraplineError `bad-probe`, or `bad-elf` where symbols are needed
   */
  places(site: Site, probe: string): readonly Place[] {
    const wish = `probe "${probe}"`;
    const path = this.absolute(site.path);
    const inode = this.#files.inode(path);
    if (typeof inode === 'string')
      throw badProbe(wish, `${path} is not in the guest's file view`, inode, SHOW_IT);
    const at = (offset: bigint): Place => ({ inode, path, offset, refCtr: site.refCtr });
    const { spot } = site;
    const refuse = ({ reason, errno }: NoPlace): TraplineError =>
      badProbe(wish, `${path} ${reason}`, errno, `\`trapline list ${path}\` shows what there is`);
    if (spot.kind === 'offset') return [at(spot.offset)];
    if (spot.kind === 'symbol') {
      const found = findSymbol(this.image(inode), spot.symbol);
      if (isNoPlace(found)) throw refuse(found);
      return [at(found.offset + spot.addend)];
    }
    const sites = findUsdt(this.image(inode), spot.provider, spot.name);
    if (isNoPlace(sites)) throw refuse(sites);
    return sites.map(({ offset, semaphore }) => ({ inode, path, offset, refCtr: semaphore }));
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
}

const SHOW_IT = 'show it to the guest with --root or --mount';
