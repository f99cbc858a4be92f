import type { ErrnoName } from '../abi/errno.ts';
import { hex } from '../base/bytes.ts';
import type { TraplineError } from '../base/errors.ts';
import { PROGRAM_PATH } from '../consumers/event/site.ts';
import { attachMulti, type MultiHandlers, MultiLink } from '../consumers/multi/link.ts';
import { matcher } from '../consumers/multi/pattern.ts';
import { MultiFlag, type MultiSite, type MultiSurroundings } from '../consumers/multi/request.ts';
import type { ElfFunction } from '../elf/functions.ts';
import type { ElfImage } from '../elf/image.ts';
import type { Inode } from '../memory/backing.ts';
import type { Uprobes } from '../uprobes/index.ts';
import type { Attacher } from './attach.ts';
import { type Link, makeLink } from './link.ts';
import type { Locator } from './locate.ts';
import { findSymbol, isNoPlace } from './names.ts';
import { badProbe, requireHandler } from './refusal.ts';

/**
 * Which places of a file a multi link is for: functions whose name matches (`*`, `?`; a function with
 * several names is one place, an IFUNC none), functions by name, or file offsets.
 */
export type MultiTarget =
  | { readonly pattern: string }
  | { readonly symbols: readonly string[] }
  | { readonly offsets: readonly bigint[] };

/** What may be said about a multi link, as in bpf(2). */
export interface MultiOptions {
  /** The file, a guest path; default `@`, the program. */
  readonly path?: string;
  /** One a place, in order; what `site.cookie` is then. Not with a pattern. Default 0. */
  readonly cookies?: readonly bigint[];
  /** File offset of a 16-bit counter, one a place; 0 = none. Not with a pattern. Default none. */
  readonly refCtrOffsets?: readonly bigint[];
  /** Only this process; default all. */
  readonly pid?: number;
}

/** The handle of a multi link. */
export interface MultiLinkHandle extends Link {
  readonly sites: readonly MultiSite[];
  /** Returns that were not probed: too deep, or an unreadable stack. */
  readonly missed: number;
}

/** Makes multi links out of names and puts refusals into words. */
export class MultiAttacher {
  readonly #uprobes: Uprobes;
  readonly #locator: Locator;
  readonly #attacher: Attacher;
  readonly #surroundings: MultiSurroundings;

  constructor(
    uprobes: Uprobes,
    locator: Locator,
    attacher: Attacher,
    process: MultiSurroundings['process'],
  ) {
    this.#uprobes = uprobes;
    this.#locator = locator;
    this.#attacher = attacher;
    this.#surroundings = { lookup: (path) => locator.inode(path), process };
  }

  /** @throws TraplineError `bad-probe` with the errno of libbpf or of the kernel */
  attach(target: MultiTarget, handlers: MultiHandlers, options: MultiOptions): MultiLinkHandle {
    const { cookies = null, refCtrOffsets = null, pid = 0 } = options;
    const path = this.#locator.absolute(options.path ?? PROGRAM_PATH);
    const wish = `${options.path ?? PROGRAM_PATH}:${describe(target)}`;
    if ('pattern' in target && (cookies ?? refCtrOffsets) !== null)
      throw refusal(wish, 'cookies and counters go with symbols or offsets', 'EINVAL');
    const offsets = this.#offsets(target, path, wish);
    requireHandler(wish, handlers);
    const flags =
      handlers.entry === undefined && handlers.return !== undefined ? MultiFlag.Return : 0;
    const count = offsets.length;
    const request = { flags, path, offsets, refCtrOffsets, cookies, count, pid };
    const link = attachMulti(this.#uprobes, this.#surroundings, request, handlers);
    if (link instanceof MultiLink)
      return {
        ...makeLink(link.sites, () => link.detach()),
        sites: link.sites,
        get missed() {
          return link.missed;
        },
      };
    const { errno, at } = link;
    const offset = at === null ? undefined : offsets[at];
    if (at === null || offset === undefined)
      throw refusal(wish, WHY[errno] ?? 'the kernel refuses it', errno);
    const inode = this.#file(path, wish);
    const place = { inode, offset, refCtr: refCtrOffsets?.[at] ?? 0n };
    throw this.#attacher.refusal(
      errno,
      place,
      `${wish}, place ${at + 1} of ${count}, ${hex(offset)}`,
    );
  }

  #offsets(target: MultiTarget, path: string, wish: string): readonly bigint[] {
    if ('offsets' in target) return target.offsets;
    const image = this.#locator.image(this.#file(path, wish));
    return 'symbols' in target
      ? target.symbols.map((name) => symbolOffset(image, name, wish))
      : patternOffsets(image, target.pattern, wish);
  }

  #file(path: string, wish: string): Inode {
    const inode = this.#locator.inode(path);
    if (typeof inode === 'string') throw refusal(wish, `cannot read ${path}`, inode);
    return inode;
  }
}

/** What stands behind the errnos of a link as a whole. */
const WHY: Readonly<Partial<Record<ErrnoName, string>>> = {
  E2BIG: 'more than 1,048,576 places',
  EBADF: 'the path leads to no regular file',
  EFAULT: 'fewer cookies or counters than places',
  EINVAL: 'no places, a negative number, or a session under a kernel that has none (before 6.13)',
  ENOENT: 'there is no such file',
  ESRCH: 'there is no such process',
};

const describe = (target: MultiTarget): string => {
  if ('pattern' in target) return target.pattern;
  return 'symbols' in target
    ? `${target.symbols.length} symbols`
    : `${target.offsets.length} offsets`;
};

const symbolOffset = (image: ElfImage, name: string, wish: string): bigint => {
  const found = findSymbol(image, name);
  if (isNoPlace(found)) throw refusal(wish, `${image.path} ${found.reason}`, found.errno);
  return found.offset;
};

const patternOffsets = (image: ElfImage, pattern: string, wish: string): readonly bigint[] => {
  const matches = matcher(pattern);
  const found = image
    .functions()
    .filter(({ kind, name }: ElfFunction) => kind === 'function' && matches(name));
  if (found.length === 0) throw refusal(wish, `no function of ${image.path} matches`, 'ENOENT');
  return [...new Set(found.map(({ offset }) => offset))];
};

const refusal = (wish: string, reason: string, errno: ErrnoName): TraplineError =>
  badProbe(`multi link "${wish}"`, reason, errno);
