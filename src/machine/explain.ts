import { fromHex, PAGE_MASK, toHex } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';
import { ElfImage } from '../elf/image.ts';
import {
  COPY_SIZE,
  type Explanation,
  explain,
  optimisedTrampoline,
  PROFILES,
  type Profile,
  returnTrampoline,
} from '../uprobes/index.ts';
import { Printer } from '../x86/print.ts';
import { offsetSteps, type Step, symbolSteps, usdtSteps } from './derivation.ts';
import { disagreement } from './disagreement.ts';
import { findSymbol, findUsdt, isNoPlace } from './names.ts';
import { type Named, namedPlaces, type Probeable, problemsOf } from './probeable.ts';

/** Where bare bytes are taken to lie. */
const BARE_ADDRESS = 0x401000n;

/** The verdict on one instruction, as `trapline explain --bytes --json` prints it. */
export interface BytesExplanation extends Explanation {
  /** Hex, as given. */
  readonly bytes: string;
  /** Disassembly in AT&T syntax. */
  readonly text: string;
  /** How the kernel's decoder and the disassembler differ on length or validity; null = they agree. */
  readonly disagreement: string | null;
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
    // What lies behind the bytes reads as 0, as behind the end of a file.
    const copy = new Uint8Array(COPY_SIZE);
    copy.set(bytes.subarray(0, COPY_SIZE));
    const { text, length } = this.#printer.read(copy, BARE_ADDRESS);
    return {
      bytes: toHex(bytes),
      ...explanation,
      text,
      disagreement: disagreement(explanation.length, length),
    };
  }

  free(): void {
    this.#printer.free();
  }
}

/** One site under one kernel. */
export interface SiteExplanation extends Explanation {
  readonly profile: string;
  /** As in {@link BytesExplanation}. */
  readonly disagreement: string | null;
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

  /** Functions and labels in address order, then USDT sites in the order of their notes. */
  list(profile: Profile): readonly Probeable[] {
    const printer = new Printer();
    const listed = namedPlaces(this.#image, profile).map((place) =>
      this.#judge(place, profile, printer),
    );
    printer.free();
    return listed;
  }

  /** Sentences about parts of the file that are broken and were left out. */
  problems(): readonly string[] {
    return problemsOf(this.#image);
  }

  /**
   * A site under every profile, or under some; every site of a USDT probe.
   * @param spot file offset (`0x…`), `SYMBOL`, `SYMBOL+N` or `%PROVIDER:NAME`
   * @throws TraplineError `bad-probe` when there is no such place
   */
  explain(spot: string, profiles: readonly Profile[] = PROFILES): readonly InspectedSite[] {
    return this.#placesOf(spot).map((place) => this.#inspect(place, profiles));
  }

  #judge(place: Named, profile: Profile, printer: Printer): Probeable {
    const { verdict, reason, optimisable } = this.#explainAt(place.offset, profile);
    const instruction = printer.print(this.#bytesAt(place.offset), place.address);
    return { ...place, instruction, verdict, reason, optimisable };
  }

  #inspect({ offset, steps, kind }: SpotPlace, profiles: readonly Profile[]): InspectedSite {
    const bytes = this.#bytesAt(offset);
    const address = this.#image.addressOfOffset(offset) ?? null;
    const printer = new Printer();
    const { text, length } = printer.read(bytes, address ?? 0n);
    const explanations = profiles.map((profile): SiteExplanation => {
      const explanation = this.#explainAt(offset, profile);
      const slot = explanation.xol === null ? undefined : fromHex(explanation.xol);
      return {
        profile: profile.name,
        ...explanation,
        disagreement: disagreement(explanation.length, length),
        slotText: slot === undefined ? null : printer.print(slot, 0n),
        trampoline: explanation.optimisable ? listing(printer, optimisedTrampoline(profile)) : null,
      };
    });
    const returns = returnTrampolines(printer, profiles);
    printer.free();
    return {
      offset,
      address,
      kind,
      bytes: toHex(bytes),
      text,
      steps,
      profiles: explanations,
      returns,
    };
  }

  #explainAt(offset: bigint, profile: Profile): Explanation {
    return explain(this.#bytesAt(offset), profile, { pageOffset: Number(offset & PAGE_MASK) });
  }

  #bytesAt(offset: bigint): Uint8Array {
    const bytes = new Uint8Array(COPY_SIZE);
    const at = Number(offset);
    bytes.set(this.#image.bytes.subarray(at, at + COPY_SIZE));
    return bytes;
  }

  #placesOf(spot: string): readonly SpotPlace[] {
    const places = /^\d/.test(spot)
      ? this.#offsetPlace(spot)
      : spot.startsWith('%')
        ? this.#usdtPlaces(spot)
        : this.#symbolPlace(spot);
    if (places.some(({ offset }) => offset >= BigInt(this.#image.bytes.length)))
      throw this.#noPlace(`has no place ${spot}`);
    return places;
  }

  #offsetPlace(spot: string): readonly SpotPlace[] {
    const offset = parseNumber(spot);
    if (offset === undefined) throw this.#noPlace(`has no place ${spot}`);
    const address = this.#image.addressOfOffset(offset) ?? null;
    return [{ offset, kind: null, steps: offsetSteps(this.#image, offset, address) }];
  }

  #usdtPlaces(spot: string): readonly SpotPlace[] {
    const [, provider = '', name = ''] = /^%([^:]*):(.*)$/.exec(spot) ?? [];
    const sites = findUsdt(this.#image, provider, name);
    if (isNoPlace(sites)) throw this.#noPlace(sites.reason);
    return sites.map((site) => ({
      offset: site.offset,
      kind: 'usdt',
      steps: usdtSteps(this.#image, site),
    }));
  }

  #symbolPlace(spot: string): readonly SpotPlace[] {
    const [, name = '', addend = '0'] = /^(.+?)(?:\+(\w+))?$/.exec(spot) ?? [];
    const found = findSymbol(this.#image, name);
    if (isNoPlace(found)) throw this.#noPlace(found.reason);
    const plus = parseNumber(addend);
    if (plus === undefined) throw this.#noPlace(`has no place ${spot}`);
    const steps = symbolSteps(this.#image, found, plus);
    return [{ offset: found.offset + plus, kind: found.kind, steps }];
  }

  #noPlace(reason: string): TraplineError {
    return new TraplineError('bad-probe', `${this.#image.path} ${reason}`, {
      hint: `\`trapline list ${this.#image.path}\` shows functions, USDT probes and their offsets`,
    });
  }
}

/** A place a spot stands for, and how it was found. */
type SpotPlace = Pick<InspectedSite, 'offset' | 'kind' | 'steps'>;

/** What {@link ProgramInspector.explain} tells. */
export interface InspectedSite {
  readonly offset: bigint;
  /** Link-time address; null when no segment maps the offset. */
  readonly address: bigint | null;
  /** What named it; null for a bare offset. */
  readonly kind: Probeable['kind'] | null;
  /** The arithmetic from the name to the offset. */
  readonly steps: readonly Step[];
  /** The 16 bytes the kernel looks at, as hex. */
  readonly bytes: string;
  readonly text: string;
  readonly profiles: readonly SiteExplanation[];
  /** The same for every site. */
  readonly returns: readonly ReturnTrampoline[];
}

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
