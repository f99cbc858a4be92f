/** Which symbols name code that can be probed, and where it lies in the file. */
import { SegmentFlag, SegmentType, SHF_EXECINSTR, SymbolBinding, SymbolType } from './format.ts';
import type { Section } from './sections.ts';
import { offsetOfAddress, type Segment } from './segments.ts';
import type { ElfSymbol } from './symbol-table.ts';

/**
 * `function`; `ifunc`: the code at the address only chooses the function that callers get; `label`: a
 * symbol without type in code, as assembly has them.
 */
export type FunctionKind = 'function' | 'ifunc' | 'label';

/** Code with a name. */
export interface ElfFunction {
  readonly name: string;
  readonly kind: FunctionKind;
  /** The version it belongs to, null for none. */
  readonly version: string | null;
  /** Link-time address. */
  readonly address: bigint;
  /** Where its first byte lies in the file. */
  readonly offset: bigint;
  /** 0 when the file does not say. */
  readonly size: bigint;
}

const KINDS: Readonly<Record<number, FunctionKind>> = {
  [SymbolType.Func]: 'function',
  [SymbolType.Ifunc]: 'ifunc',
  [SymbolType.None]: 'label',
};

/** Names of code in one file, by name and in order. */
export class FunctionIndex {
  readonly #sections: readonly Section[];
  readonly #segments: readonly Segment[];
  readonly #symbols: readonly ElfSymbol[];
  #byName: ReadonlyMap<string, readonly ElfSymbol[]> | undefined;

  constructor(
    sections: readonly Section[],
    segments: readonly Segment[],
    symbols: readonly ElfSymbol[],
  ) {
    this.#sections = sections.filter(({ flags }) => (flags & SHF_EXECINSTR) !== 0n);
    this.#segments = segments;
    this.#symbols = symbols;
  }

  /** In address order, each name and address once. */
  all(): ElfFunction[] {
    const seen = new Set<string>();
    return this.#symbols
      .filter((symbol) => symbol.type !== SymbolType.None || this.#isCode(symbol.address))
      .flatMap((symbol) => this.#placed(symbol))
      .filter(({ name, address }) => {
        const key = `${name} ${address}`;
        return !seen.has(key) && seen.add(key);
      })
      .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  }

  /**
   * What a name stands for; more than one place if it is ambiguous. Functions come before labels,
   * the default version before old ones, strong symbols before weak ones.
   * @param text `name`, `name@VERSION` or `name@@VERSION`
   */
  named(text: string): readonly ElfFunction[] {
    const [, name = text, version] = /^(.[^@]*)@@?(.+)$/.exec(text) ?? [];
    const named = (this.#index().get(name) ?? []).filter(
      (symbol) => version === undefined || symbol.version === version,
    );
    const functions = named.filter(({ type }) => type !== SymbolType.None);
    const candidates = functions.length > 0 ? functions : named;
    const current = preferring(candidates, ({ hidden }) => !hidden);
    const strong = preferring(current, ({ binding }) => binding !== SymbolBinding.Weak);
    const places = strong.flatMap((symbol) => this.#placed(symbol));
    return places.filter(
      ({ address }, i) => places.findIndex((other) => other.address === address) === i,
    );
  }

  #index(): ReadonlyMap<string, readonly ElfSymbol[]> {
    if (this.#byName !== undefined) return this.#byName;
    const index = new Map<string, ElfSymbol[]>();
    for (const symbol of this.#symbols) {
      if (KINDS[symbol.type] === undefined) continue;
      const same = index.get(symbol.name);
      if (same === undefined) index.set(symbol.name, [symbol]);
      else same.push(symbol);
    }
    this.#byName = index;
    return index;
  }

  /** Inside machine code: by sections, since a segment may begin with the file header. */
  #isCode(address: bigint): boolean {
    if (this.#sections.length > 0)
      return this.#sections.some(
        (section) => address >= section.address && address < section.address + section.size,
      );
    return this.#segments.some(
      ({ type, flags, address: start, fileSize }) =>
        type === SegmentType.Load &&
        (flags & SegmentFlag.Exec) !== 0 &&
        address >= start &&
        address < start + fileSize,
    );
  }

  #placed({ name, version, address, size, type }: ElfSymbol): ElfFunction[] {
    const kind = KINDS[type];
    const offset = kind === undefined ? undefined : offsetOfAddress(this.#segments, address);
    if (kind === undefined || offset === undefined) return [];
    return [{ name, kind, version, address, offset, size }];
  }
}

const preferring = <T>(items: readonly T[], wanted: (item: T) => boolean): readonly T[] => {
  const better = items.filter(wanted);
  return better.length > 0 ? better : items;
};
