import {
  BytesExplainer,
  type BytesExplanation,
  errnoNumber,
  fromHex,
  type InspectedSite,
  PROFILES,
  ProgramInspector,
  requireProfile,
  type SiteExplanation,
  type TrampolineLine,
} from '../../index.ts';
import { Status, UsageError } from '../errors.ts';
import { readRegularFile, readText } from '../files.ts';
import { type Colors, colorsFor, print, printable, printJson } from '../output.ts';
import { paintInstruction, paintVerdict } from '../paint.ts';
import type { CommonOptions } from '../program/common.ts';

export interface ExplainOptions extends CommonOptions {
  readonly bytes?: readonly string[];
  readonly bytesFile?: string;
  readonly explainOffset?: boolean;
}

const bytesOf = (hex: string, where: string): Uint8Array => {
  const bytes = fromHex(hex);
  if (bytes === undefined || bytes.length === 0)
    throw new UsageError(`${where}: "${hex}" is no instruction in hex, for instance 0f1f440000`);
  return bytes;
};

const fileBytes = (path: string): Uint8Array[] =>
  readText(path)
    .split('\n')
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [bytesOf(line.trim(), `${path}, line ${index + 1}`)],
    );

type Verdict = Pick<
  BytesExplanation,
  'verdict' | 'errno' | 'reason' | 'advice' | 'optimisable' | 'xol' | 'scratch' | 'disagreement'
>;

/** What follows the verdict's word. */
const because = ({ errno, reason, advice, disagreement }: Verdict): string => {
  const code = errno === null ? '' : `${errno} (${errnoNumber(errno)}): `;
  return code + [reason, disagreement, advice].filter((part) => part !== null).join('; ');
};

const slotLine = ({ xol, scratch }: Verdict, text: string | null): string[] => {
  if (xol === null) return [];
  const shown = text === null ? '' : `  ${text}`;
  const standIn = scratch === null ? '' : `  (${scratch} stands in for ip)`;
  return [`  slot     ${xol}${shown}${standIn}`];
};

/** A trampoline as a listing; `title` stands beside its first instruction. */
const trampolineLines = (
  title: string,
  lines: readonly TrampolineLine[],
  colors: Colors,
): string[] =>
  lines.map(
    ({ bytes, text }, i) =>
      `  ${(i === 0 ? title : '').padEnd(8)} ${bytes.padEnd(14)}  ${paintInstruction(text, colors)}`,
  );

const block = (found: BytesExplanation, colors: Colors): string[] => [
  `${found.bytes}  ${paintInstruction(found.text, colors)}`,
  `  ${paintVerdict(found.verdict.padEnd(8), colors)} ${because(found)}`,
  ...slotLine(found, null),
];

const row = (found: BytesExplanation, width: number, colors: Colors): string =>
  [
    found.bytes.padEnd(width),
    paintVerdict(found.verdict.padEnd(7), colors),
    paintInstruction(found.text, colors),
    colors.dim(`# ${because(found)}`),
  ].join('  ');

const explainBytes = (options: ExplainOptions): void => {
  const given = (options.bytes ?? []).map((hex) => bytesOf(hex, '--bytes'));
  const filed = options.bytesFile === undefined ? [] : fileBytes(options.bytesFile);
  const explainer = new BytesExplainer(requireProfile(options.kernel));
  const found = [...given, ...filed].map((bytes) => explainer.explain(bytes));
  explainer.free();
  const colors = colorsFor(options.color);
  if (options.json)
    print(found.map((one) => JSON.stringify({ v: 1, type: 'instruction', ...one })));
  else if (options.bytesFile === undefined) print(found.flatMap((one) => block(one, colors)));
  else {
    const width = found.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
    print(found.map((one) => row(one, width, colors)));
  }
};

/** Profiles that say the same stand together. */
const grouped = (site: InspectedSite): [names: string[], explanation: SiteExplanation][] => {
  const groups = new Map<string, [string[], SiteExplanation]>();
  for (const explanation of site.profiles) {
    const { profile, ...rest } = explanation;
    const key = JSON.stringify(rest);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [[profile], explanation]);
    else group[0].push(profile);
  }
  return [...groups.values()];
};

/** What a probe on a name does not do. */
const IFUNC_WARNING =
  'this is an IFUNC: the code here chooses the function that callers get and is not called by them; probe the chosen one';

const siteText = (
  path: string,
  site: InspectedSite,
  showSteps: boolean,
  colors: Colors,
): string[] => {
  const address = site.address === null ? 'not mapped' : `address 0x${site.address.toString(16)}`;
  const length = site.profiles.find((one) => one.length !== null)?.length ?? null;
  const bytes = site.bytes.slice(0, length === null ? undefined : 2 * length);
  return [
    `${printable(path)}: file offset 0x${site.offset.toString(16)}, ${address}`,
    ...(site.kind === 'ifunc' ? [`  ${colors.red(IFUNC_WARNING)}`] : []),
    ...(showSteps ? site.steps : []).map(
      ({ about, text }) => `  ${about.padEnd(9)} ${printable(text)}`,
    ),
    `  ${bytes}  ${paintInstruction(site.text, colors)}`,
    ...grouped(site).flatMap(([names, found]) => [
      '',
      colors.cyan(names.join(' ')),
      `  ${paintVerdict(found.verdict.padEnd(8), colors)} ${because(found)}`,
      ...slotLine(found, found.slotText && paintInstruction(found.slotText, colors)),
      ...trampolineLines('call to', found.trampoline ?? [], colors),
    ]),
    ...site.returns.flatMap(({ profiles, code }) => [
      '',
      `a function with a return probe returns to, under ${colors.cyan(profiles.join(' '))}`,
      ...trampolineLines('', code, colors),
    ]),
  ];
};

const hex = (value: bigint | null): string | null =>
  value === null ? null : `0x${value.toString(16)}`;

const explainSite = (text: string, options: ExplainOptions): void => {
  const [, path, spot] = /^(.+?):(%.+)$/.exec(text) ?? /^(.+):(.+)$/.exec(text) ?? [];
  if (path === undefined || spot === undefined)
    throw new UsageError(`"${text}" is not PROGRAM:SITE, for instance ./calc:add`);
  const profiles = options.kernel === undefined ? PROFILES : [requireProfile(options.kernel)];
  const inspector = new ProgramInspector(readRegularFile(path), path);
  for (const site of inspector.explain(spot, profiles)) {
    const { offset, address } = site;
    if (options.json)
      printJson({ v: 1, type: 'site', path, ...site, offset: hex(offset), address: hex(address) });
    else print(siteText(path, site, options.explainOffset ?? false, colorsFor(options.color)));
  }
};

/** `trapline explain`. */
export const explain = async (
  site: string | undefined,
  options: ExplainOptions,
): Promise<number> => {
  const bare = options.bytes !== undefined || options.bytesFile !== undefined;
  if (bare === (site !== undefined))
    throw new UsageError('explain takes either PROGRAM:SITE or --bytes or --bytes-file');
  if (bare && options.explainOffset)
    throw new UsageError('--explain-offset goes with PROGRAM:SITE');
  if (site === undefined) explainBytes(options);
  else explainSite(site, options);
  return Status.ok;
};
