/** Words of the `trigger` file: `[!]NAME[:PARAMETER] [if FILTER]`. */
import type { ErrnoName } from '../../../abi/errno.ts';
import { parseUnsigned } from '../../event/number.ts';

/** A trigger as written. */
export interface TriggerCommand {
  readonly remove: boolean;
  readonly name: string;
  /** What follows the name and its colon or blank; null = nothing. */
  readonly rest: string | null;
}

/** How often a trigger acts; null = without limit. */
export type Count = bigint | null;

/** ~0: what the kernel takes for "without limit". */
const UNLIMITED = (1n << 64n) - 1n;

export const parseTriggerCommand = (text: string): TriggerCommand => {
  const [, bang = '', name = '', rest = ''] =
    /^(!?)([^: \t]*)(?:[: \t]\s*(.*))?$/s.exec(text) ?? [];
  return { remove: bang !== '', name, rest: rest === '' ? null : rest };
};

/** Parameter and filter text of what follows a name; the parameter ends at a blank. */
export const splitFilter = (
  rest: string | null,
): { readonly param: string | null; readonly filter: string | null } => {
  if (rest === null) return { param: null, filter: null };
  const [, param = '', filter = ''] = /^([^ \t]*)(?:[ \t]\s*(.*))?$/s.exec(rest) ?? [];
  return { param, filter: filter === '' ? null : filter };
};

/** The expression of `if EXPRESSION`, its blanks but the first kept; null when none is given. */
export const filterExpression = (filter: string | null): string | null | 'EINVAL' => {
  if (filter === null) return null;
  return /^if[ \t](.*)$/s.exec(filter)?.[1] ?? 'EINVAL';
};

export const parseCount = (text: string): Count | ErrnoName => {
  const value = parseUnsigned(text.split(':')[0]!);
  return value === UNLIMITED ? null : value;
};
