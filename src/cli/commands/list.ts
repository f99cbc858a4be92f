import { type Probeable, ProgramInspector, requireProfile } from '../../index.ts';
import { Status } from '../errors.ts';
import { readRegularFile } from '../files.ts';
import { type Colors, colorsFor, print, printable, printJson } from '../output.ts';
import { paintInstruction, paintVerdict } from '../paint.ts';
import type { CommonOptions } from '../program/common.ts';

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const probeableJson = ({ offset, address, usdt, ...rest }: Probeable) => ({
  ...rest,
  offset: hex(offset),
  address: hex(address),
  ...(usdt !== null && { usdt: { semaphore: hex(usdt.semaphore), args: usdt.args } }),
});

/** Longest name that still widens its column. */
const MAX_NAME = 40;

/** As a probe's site names it. */
const labelOf = ({ kind, name }: Probeable): string =>
  printable(kind === 'usdt' ? `%${name}` : name);

const rows = (found: readonly Probeable[], colors: Colors): string[] => {
  const longest = found.reduce((most, one) => Math.max(most, labelOf(one).length), 4);
  const width = Math.min(MAX_NAME, longest);
  const head = `${'OFFSET'.padEnd(10)} ${'ADDRESS'.padEnd(18)} ${'VERDICT'.padEnd(8)} ${'NAME'.padEnd(width)} INSTRUCTION`;
  return [
    colors.dim(head),
    ...found.map((one) => {
      const call = one.optimisable ? colors.cyan('  becomes a call') : '';
      const why = one.verdict === 'refuse' ? colors.dim(`  # ${one.reason}`) : '';
      return [
        hex(one.offset).padEnd(10),
        hex(one.address).padEnd(18),
        paintVerdict(one.verdict.padEnd(8), colors),
        labelOf(one).padEnd(width),
        `${paintInstruction(one.instruction, colors)}${call}${why}`,
      ].join(' ');
    }),
  ];
};

/** `trapline list`. */
export const list = async (path: string, options: CommonOptions): Promise<number> => {
  const profile = requireProfile(options.kernel);
  const found = new ProgramInspector(readRegularFile(path), path).list(profile);
  if (options.json)
    printJson({
      v: 1,
      type: 'list',
      path,
      profile: profile.name,
      probeable: found.map(probeableJson),
    });
  else if (found.length === 0)
    print([`${path}: no functions and no USDT sites (stripped?); offsets can still be probed`]);
  else print(rows(found, colorsFor(options.color)));
  return Status.ok;
};
