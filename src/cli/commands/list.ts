import { loadDemangler } from '../../host/node/demangle.ts';
import { type Probeable, ProgramInspector, requireProfile, type UsdtDetails } from '../../index.ts';
import { Status } from '../errors.ts';
import { readRegularFile } from '../files.ts';
import { type Colors, colorsFor, complain, print, printable, printJson } from '../output.ts';
import { paintInstruction, paintVerdict } from '../paint.ts';
import type { CommonOptions } from '../program/common.ts';

export interface ListOptions extends CommonOptions {
  readonly usdt?: boolean;
  readonly demangle: boolean;
}

/** A thing of the list, and its name as its author wrote it. */
interface Listed extends Probeable {
  /** Null where it is the name itself. */
  readonly demangled: string | null;
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const usdtJson = ({ semaphore, attachOffset, ...rest }: UsdtDetails) => ({
  ...rest,
  semaphore: hex(semaphore),
  attachOffset: hex(attachOffset),
});

const probeableJson = ({ offset, address, usdt, ...rest }: Listed) => ({
  ...rest,
  offset: hex(offset),
  address: hex(address),
  ...(usdt !== null && { usdt: usdtJson(usdt) }),
});

/** Longest name that still widens its column. */
const MAX_NAME = 40;

const labelOf = ({ kind, name, demangled }: Listed): string =>
  printable(kind === 'usdt' ? `%${name}` : (demangled ?? name));

/** What the instruction's text does not say. */
const remarks = (one: Listed, colors: Colors): string =>
  [
    one.optimisable ? colors.cyan('  becomes a call') : '',
    one.kind === 'ifunc' ? colors.red('  # IFUNC: only chooses the function that callers get') : '',
    one.kind === 'label' ? colors.dim('  # label without type') : '',
    one.verdict === 'refuse' ? colors.dim(`  # ${one.reason}`) : '',
  ].join('');

interface Column {
  readonly title: string;
  readonly width: number;
  readonly cell: (one: Listed) => string;
}

/** The rows of a table; `after` adds lines below a row. */
const table = (
  found: readonly Listed[],
  columns: readonly Column[],
  colors: Colors,
  after: (one: Listed) => readonly string[] = () => [],
): string[] => {
  const head = columns.map(({ title, width }) => title.padEnd(width)).join(' ');
  return [
    colors.dim(`${head} INSTRUCTION`),
    ...found.flatMap((one) => {
      const cells = columns.map(({ title, width, cell }) => {
        const text = cell(one).padEnd(width);
        return title === 'VERDICT' ? paintVerdict(text, colors) : text;
      });
      const code = `${paintInstruction(one.instruction, colors)}${remarks(one, colors)}`;
      return [`${cells.join(' ')} ${code}`, ...after(one)];
    }),
  ];
};

const nameWidth = (found: readonly Listed[]): number =>
  Math.min(
    MAX_NAME,
    found.reduce((most, one) => Math.max(most, labelOf(one).length), 4),
  );

const OFFSET: Column = { title: 'OFFSET', width: 10, cell: ({ offset }) => hex(offset) };
const ADDRESS: Column = { title: 'ADDRESS', width: 18, cell: ({ address }) => hex(address) };
const VERDICT: Column = { title: 'VERDICT', width: 8, cell: ({ verdict }) => verdict };
const SEMAPHORE: Column = {
  title: 'SEMAPHORE',
  width: 10,
  cell: ({ usdt }) => (usdt === null || usdt.semaphore === 0n ? '-' : hex(usdt.semaphore)),
};

const nameColumn = (found: readonly Listed[]): Column => ({
  title: 'NAME',
  width: nameWidth(found),
  cell: labelOf,
});

/** Arguments of a USDT site, and where a tool that knows of its long nop attaches. */
const usdtLines = ({ offset, usdt }: Listed, colors: Colors): readonly string[] => {
  if (usdt === null) return [];
  const width = usdt.operands.reduce((most, { source }) => Math.max(most, source.length), 0);
  return [
    ...usdt.operands.map(({ source, decoded, known }, i) => {
      const meaning = printable(decoded);
      const text = known ? colors.green(meaning) : colors.red(meaning);
      return `  arg${i} ${printable(source).padEnd(width)}  ${text}`;
    }),
    ...(usdt.attachOffset === offset
      ? []
      : [`  libbpf attaches at ${hex(usdt.attachOffset)}, the long nop behind the nop`]),
  ];
};

const usdtTable = (found: readonly Listed[], colors: Colors): string[] =>
  table(found, [OFFSET, ADDRESS, SEMAPHORE, VERDICT, nameColumn(found)], colors, (one) =>
    usdtLines(one, colors),
  );

const demangled = async (found: readonly Probeable[], wanted: boolean): Promise<Listed[]> => {
  const isMangled = (name: string): boolean => /^_[ZR]/.test(name);
  if (!wanted || !found.some(({ name }) => isMangled(name)))
    return found.map((one) => ({ ...one, demangled: null }));
  const demangle = await loadDemangler();
  return found.map((one) => {
    const plain = isMangled(one.name) ? demangle(one.name) : one.name;
    return { ...one, demangled: plain === one.name ? null : plain };
  });
};

const nothing = (path: string, usdt: boolean): string =>
  usdt
    ? `${printable(path)}: no USDT sites`
    : `${printable(path)}: no functions and no USDT sites (stripped?); offsets can still be probed`;

/** `trapline list`. */
export const list = async (path: string, options: ListOptions): Promise<number> => {
  const profile = requireProfile(options.kernel);
  const onlyUsdt = options.usdt ?? false;
  const inspector = new ProgramInspector(readRegularFile(path), path);
  const all = inspector.list(profile).filter(({ kind }) => !onlyUsdt || kind === 'usdt');
  const found = await demangled(all, options.demangle);
  const problems = inspector.problems();
  for (const problem of problems) complain(`${path}: ${problem}; left out`);
  const colors = colorsFor(options.color);
  if (options.json)
    printJson({
      v: 1,
      type: 'list',
      path,
      profile: profile.name,
      problems,
      probeable: found.map(probeableJson),
    });
  else if (found.length === 0) print([nothing(path, onlyUsdt)]);
  else if (onlyUsdt) print(usdtTable(found, colors));
  else print(table(found, [OFFSET, ADDRESS, VERDICT, nameColumn(found)], colors));
  return Status.ok;
};
