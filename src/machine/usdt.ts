import type { ErrnoName } from '../abi/errno.ts';
import type { TraplineError } from '../base/errors.ts';
import {
  isKnown,
  MAX_USDT_ARGS,
  parseUsdtArguments,
  type UsdtArgument,
} from '../consumers/usdt/argument.ts';
import { usdtAttachOffset } from '../consumers/usdt/combo.ts';
import type { UsdtSite } from '../consumers/usdt/notes.ts';
import { UsdtHit, type UsdtSpec } from '../consumers/usdt/probe.ts';
import { UsdtSpecs } from '../consumers/usdt/specs.ts';
import type { ElfImage } from '../elf/image.ts';
import type { Profile } from '../uprobes/index.ts';
import { type Link, makeLink } from './link.ts';
import type { Locator } from './locate.ts';
import type { MultiAttacher } from './multi.ts';
import { findUsdt, isNoPlace } from './names.ts';
import { badProbe } from './refusal.ts';

/** Called at every site of a USDT probe. */
export type UsdtHandler = (usdt: UsdtHit) => void;

/** What may be said about an attachment. */
export interface UsdtOptions {
  /** What `usdt.cookie` is then; default 0. */
  readonly cookie?: bigint;
  /** Only this process; default all. */
  readonly pid?: number;
}

/** Attaches to USDT probes as libbpf does: one multi link on all sites of a name. */
export class UsdtAttacher {
  readonly #locator: Locator;
  readonly #multi: MultiAttacher;
  readonly #profile: Profile;
  readonly #specs = new UsdtSpecs();

  constructor(locator: Locator, multi: MultiAttacher, profile: Profile) {
    this.#locator = locator;
    this.#multi = multi;
    this.#profile = profile;
  }

  /**
   * @param path guest path, or `@`
   * @throws TraplineError `bad-probe` with the errno of libbpf or of the kernel
   */
  attach(
    path: string,
    probe: { readonly provider: string; readonly name: string },
    handler: UsdtHandler,
    { cookie = 0n, pid = 0 }: UsdtOptions,
  ): Link {
    const { provider, name } = probe;
    const refuse = (reason: string, errno: ErrnoName): TraplineError =>
      badProbe(`USDT probe "${path}:%${provider}:${name}"`, reason, errno);
    const inode = this.#locator.inode(path);
    if (typeof inode === 'string') throw refuse(`cannot read ${path}`, inode);
    const image = this.#locator.image(inode);
    const sites = findUsdt(image, provider, name);
    if (isNoPlace(sites)) throw refuse(`${path} ${sites.reason}`, sites.errno);
    const argumentsOf = this.#argumentReader(image, refuse);
    const specs = sites.map((site) => this.#spec(image, site, argumentsOf(site.args)));
    const rooms = new Set(sites.map(({ args }) => args)).size;
    if (!this.#specs.take(rooms)) throw refuse('more than 256 different argument strings', 'E2BIG');
    const hit = new UsdtHit(cookie);
    try {
      const link = this.#multi.attach(
        { offsets: specs.map(({ offset }) => offset) },
        {
          entry: (at, { cookie: index }) => {
            const spec = specs[Number(index)];
            if (spec !== undefined) handler(hit.at(at, spec));
            return undefined;
          },
        },
        {
          path,
          pid,
          refCtrOffsets: sites.map(({ semaphore }) => semaphore),
          cookies: sites.map((_, i) => BigInt(i)),
        },
      );
      const places = link.sites.map(({ path: file, offset }) => ({ path: file, offset }));
      return makeLink(places, () => {
        link.close();
        this.#specs.giveBack(rooms);
      });
    } catch (error) {
      this.#specs.giveBack(rooms);
      throw error;
    }
  }

  #spec(
    image: ElfImage,
    site: UsdtSite,
    known: readonly UsdtArgument[],
  ): UsdtSpec & { readonly offset: bigint } {
    const offset = usdtAttachOffset(image.bytes, site.offset, this.#profile);
    return { arguments: known, address: site.address + (offset - site.offset), offset };
  }

  /** Sites with one argument string share one list. */
  #argumentReader(
    image: ElfImage,
    refuse: (reason: string, errno: ErrnoName) => TraplineError,
  ): (text: string) => readonly UsdtArgument[] {
    const known = new Map<string, readonly UsdtArgument[]>();
    return (text) => {
      const before = known.get(text);
      if (before !== undefined) return before;
      const parsed = parseUsdtArguments(text, (symbol) => image.symbolAddress(symbol));
      if (parsed.length > MAX_USDT_ARGS)
        throw refuse(`${parsed.length} arguments; libbpf takes ${MAX_USDT_ARGS}`, 'E2BIG');
      for (const one of parsed)
        if (!isKnown(one)) throw refuse(`argument "${one.source}": ${one.problem}`, one.errno);
      const all = parsed.filter(isKnown);
      known.set(text, all);
      return all;
    };
  }
}
