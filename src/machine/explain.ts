import { fromHex, toHex } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';
import { type UsdtSite, usdtSites } from '../consumers/usdt/notes.ts';
import { ElfImage } from '../elf/image.ts';
import {
  type Explanation,
  explain,
  optimisedTrampoline,
  PROFILES,
  type Profile,
  returnTrampoline,
} from '../uprobes/index.ts';
import { Printer } from '../x86/print.ts';

/** Where bare bytes are taken to lie. */
const BARE_ADDRESS = 0x401000n;
/** Bytes the kernel copies from a site. */
const COPY_SIZE = 16;

/** The verdict on one instruction, as `trapline explain --bytes --json` prints it. */
export interface BytesExplanation extends Explanation {
  /** Hex, as given. */
  readonly bytes: string;
  /** Disassembly in AT&T syntax. */
  readonly text: string;
}

/** Judges bare instructions; holds a disassembler, so make one and call it often. */
export class BytesExplainer {
  readonly #profile: Profile;
  readonly #printer = new Printer();

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  /** @param bytes the instruction; what follows it is ignored */
  explain(bytes: Uint8Array): BytesExplanation {
    const explanation = explain(bytes, this.#profile);
    return {
      bytes: toHex(bytes),
      ...explanation,
      text: this.#printer.print(bytes.subarray(0, 15), BARE_ADDRESS),
    };
  }

  free(): void {
    this.#printer.free();
  }
}

/** A function or USDT site, and what a probe there would meet. */
export interface Probeable {
  readonly kind: 'function' | 'usdt';
  /** `name`, or `provider:name`. */
  readonly name: string;
  readonly offset: bigint;
  /** Link-time address. */
  readonly address: bigint;
  /** First instruction, AT&T syntax. */
  readonly instruction: string;
  readonly verdict: Explanation['verdict'];
  readonly reason: string;
  readonly optimisable: boolean;
  /** USDT only: its semaphore's file offset (0 = none) and its argument descriptions. */
  readonly usdt: { readonly semaphore: bigint; readonly args: string } | null;
}

/** One site under one kernel. */
export interface SiteExplanation extends Explanation {
  readonly profile: string;
  /** What the slot holds, for `step`: one text an instruction. */
  readonly slotText: string | null;
  /** The page an optimised site calls; null where the site stays an int3. */
  readonly trampoline: readonly TrampolineLine[] | null;
}

/** Where a function returns to while a return probe on it is pending, under some kernels. */
export interface ReturnTrampoline {
  readonly profiles: readonly string[];
  readonly code: readonly TrampolineLine[];
}

/** One instruction of a trampoline: hex and AT&T text. */
export interface TrampolineLine {
  readonly bytes: string;
  readonly text: string;
}

/** A program file as `list` and `explain` see it; nothing is run. */
export class ProgramInspector {
  readonly #image: ElfImage;

  /** @throws TraplineError `bad-elf` */
  constructor(bytes: Uint8Array, path: string) {
    this.#image = ElfImage.parse(bytes, path);
  }

  /** Functions in address order, then USDT sites in the order of their notes. */
  list(profile: Profile): readonly Probeable[] {
    const printer = new Printer();
    const of = (
      base: Pick<Probeable, 'kind' | 'name' | 'offset' | 'address' | 'usdt'>,
    ): Probeable => {
      const bytes = this.#bytesAt(base.offset);
      const { verdict, reason, optimisable } = this.#explainAt(base.offset, profile);
      return {
        ...base,
        instruction: printer.print(bytes, base.address),
        verdict,
        reason,
        optimisable,
      };
    };
    const functions = this.#image
      .functions()
      .map(({ name, offset, address }) =>
        of({ kind: 'function', name, offset, address, usdt: null }),
      );
    const sites = usdtSites(this.#image).map((site) => of(usdtProbeable(site)));
    printer.free();
    return [...functions, ...sites];
  }

  /**
   * The single places a spot stands for: several where it is a USDT probe.
   * @param spot as {@link ProgramInspector.explain} takes it, or `%PROVIDER:NAME`
   * @throws TraplineError `bad-probe` when there is no such USDT probe
   */
  spots(spot: string): readonly string[] {
    if (!spot.startsWith('%')) return [spot];
    const sites = usdtSites(this.#image).filter(
      ({ provider, name }) => spot === `%${provider}:${name}`,
    );
    if (sites.length === 0) throw this.#noPlace(spot);
    return sites.map(({ offset }) => `0x${offset.toString(16)}`);
  }

  /**
   * One site under every profile, or under one.
   * @param spot file offset (`0x…`), `SYMBOL` or `SYMBOL+N`
   * @throws TraplineError `bad-probe` when there is no such place
   */
  explain(spot: string, profiles: readonly Profile[] = PROFILES): InspectedSite {
    const offset = this.#offsetOf(spot);
    const bytes = this.#bytesAt(offset);
    const address = this.#image.addressOfOffset(offset) ?? null;
    const printer = new Printer();
    const text = printer.print(bytes, address ?? 0n);
    const explanations = profiles.map((profile): SiteExplanation => {
      const explanation = this.#explainAt(offset, profile);
      const slot = explanation.xol === null ? undefined : fromHex(explanation.xol);
      return {
        profile: profile.name,
        ...explanation,
        slotText: slot === undefined ? null : printer.print(slot, 0n),
        trampoline: explanation.optimisable ? listing(printer, optimisedTrampoline(profile)) : null,
      };
    });
    const returns = returnTrampolines(printer, profiles);
    printer.free();
    return { offset, address, bytes: toHex(bytes), text, profiles: explanations, returns };
  }

  #explainAt(offset: bigint, profile: Profile): Explanation {
    const address = this.#image.addressOfOffset(offset) ?? offset;
    return explain(this.#bytesAt(offset), profile, { pageOffset: Number(address & 0xfffn) });
  }

  #bytesAt(offset: bigint): Uint8Array {
    const bytes = new Uint8Array(COPY_SIZE);
    const at = Number(offset);
    bytes.set(this.#image.bytes.subarray(at, at + COPY_SIZE));
    return bytes;
  }

  #offsetOf(spot: string): bigint {
    const offset = /^\d/.test(spot) ? parseNumber(spot) : this.#symbolOffset(spot);
    if (offset !== undefined && offset < BigInt(this.#image.bytes.length)) return offset;
    throw this.#noPlace(spot);
  }

  #noPlace(spot: string): TraplineError {
    return new TraplineError('bad-probe', `${this.#image.path} has no place ${spot}`, {
      hint: `\`trapline list ${this.#image.path}\` shows functions, USDT probes and their offsets`,
    });
  }

  #symbolOffset(spot: string): bigint | undefined {
    const [, name = '', addend = '0'] = /^(.+?)(?:\+(\w+))?$/.exec(spot) ?? [];
    const base = this.#image.findFunction(name)?.offset;
    const plus = parseNumber(addend);
    return base === undefined || plus === undefined ? undefined : base + plus;
  }
}

/** What {@link ProgramInspector.explain} tells. */
export interface InspectedSite {
  readonly offset: bigint;
  /** Link-time address; null when no segment maps the offset. */
  readonly address: bigint | null;
  /** The 16 bytes the kernel looks at, as hex. */
  readonly bytes: string;
  readonly text: string;
  readonly profiles: readonly SiteExplanation[];
  /** The same for every site. */
  readonly returns: readonly ReturnTrampoline[];
}

const usdtProbeable = ({ provider, name, offset, address, semaphore, args }: UsdtSite) =>
  ({
    kind: 'usdt',
    name: `${provider}:${name}`,
    offset,
    address,
    usdt: { semaphore, args },
  }) as const;

const listing = (printer: Printer, code: Uint8Array): readonly TrampolineLine[] =>
  printer.listing(code, 0n).map(({ bytes, text }) => ({ bytes: toHex(bytes), text }));

const returnTrampolines = (
  printer: Printer,
  profiles: readonly Profile[],
): readonly ReturnTrampoline[] => {
  const groups = new Map<string, { profiles: string[]; code: readonly TrampolineLine[] }>();
  for (const profile of profiles) {
    const code = returnTrampoline(profile);
    const group = groups.get(toHex(code)) ?? { profiles: [], code: listing(printer, code) };
    group.profiles.push(profile.name);
    groups.set(toHex(code), group);
  }
  return [...groups.values()];
};

const parseNumber = (text: string): bigint | undefined =>
  /^(0[xX][0-9a-fA-F]+|\d+)$/.test(text) ? BigInt(text) : undefined;
