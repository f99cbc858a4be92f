import { isKnown, parseUsdtArguments } from '../consumers/usdt/argument.ts';
import { usdtAttachOffset } from '../consumers/usdt/combo.ts';
import { type UsdtSite, usdtNotes } from '../consumers/usdt/notes.ts';
import { showUsdtArgument } from '../consumers/usdt/show.ts';
import type { FunctionKind } from '../elf/functions.ts';
import type { ElfImage } from '../elf/image.ts';
import type { Explanation, Profile } from '../uprobes/index.ts';

/** A function, label or USDT site, and what a probe there would meet. */
export interface Probeable {
  readonly kind: FunctionKind | 'usdt';
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
  readonly usdt: UsdtDetails | null;
}

/** What only a USDT site has. */
export interface UsdtDetails {
  readonly provider: string;
  readonly probe: string;
  /** File offset of its semaphore; 0 = none. */
  readonly semaphore: bigint;
  /** The argument descriptions as the note has them. */
  readonly args: string;
  readonly operands: readonly UsdtOperandText[];
  /** Where libbpf attaches under this kernel: at a long nop behind the probe's nop, if there is one. */
  readonly attachOffset: bigint;
}

/** One argument: its description, and what it means. */
export interface UsdtOperandText {
  readonly source: string;
  /** `s32 edi`, `u64 [rbp-24]` …; a problem where {@link known} is false. */
  readonly decoded: string;
  readonly known: boolean;
}

/** A thing to list before anybody has judged its instruction. */
export type Named = Pick<Probeable, 'kind' | 'name' | 'offset' | 'address' | 'usdt'>;

/** Functions and labels in address order, then USDT sites in the order of their notes. */
export const namedPlaces = (image: ElfImage, profile: Profile): readonly Named[] => [
  ...image.functions().map(({ kind, name, offset, address }) => ({
    kind,
    name,
    offset,
    address,
    usdt: null,
  })),
  ...usdtNotes(image).sites.map((site) => usdtPlace(image, site, profile)),
];

const usdtPlace = (image: ElfImage, site: UsdtSite, profile: Profile): Named => {
  const { provider, name, offset, address, semaphore, args } = site;
  const operands = parseUsdtArguments(args, (symbol) => image.symbolAddress(symbol));
  return {
    kind: 'usdt',
    name: `${provider}:${name}`,
    offset,
    address,
    usdt: {
      provider,
      probe: name,
      semaphore,
      args,
      operands: operands.map((one) => ({
        source: one.source,
        decoded: showUsdtArgument(one),
        known: isKnown(one),
      })),
      attachOffset: usdtAttachOffset(image.bytes, offset, profile),
    },
  };
};

/** Sentences about what the file has and nobody can use. */
export const problemsOf = (image: ElfImage): readonly string[] => {
  image.functions();
  const { broken } = usdtNotes(image);
  return [
    ...image.problems,
    ...broken.map(({ probe, problem }) =>
      probe === null ? `USDT: ${problem}` : `USDT probe ${probe}: ${problem}`,
    ),
  ];
};
