/**
 * The second word of a definition. The kernel knows PATH:OFFSET[%return][(REF)] only; the command
 * line also takes PATH:SYMBOL, PATH:SYMBOL+N and PATH:%PROVIDER:NAME, relative paths, and `@` for
 * the program.
 */
import type { ErrnoName } from '../../abi/errno.ts';
import { type FaultCode, Refusal } from './fault.ts';
import { parseUnsigned } from './number.ts';

/** The path that stands for the program of the command line. */
export const PROGRAM_PATH = '@';

/** Where in its file a probe goes. */
export type Spot =
  | { readonly kind: 'offset'; readonly offset: bigint }
  | { readonly kind: 'symbol'; readonly symbol: string; readonly addend: bigint }
  | { readonly kind: 'usdt'; readonly provider: string; readonly name: string };

export interface Site {
  /** As written; `@` = the program. */
  readonly path: string;
  readonly spot: Spot;
  /** File offset of the reference counter; 0 = none. */
  readonly refCtr: bigint;
  /** `%return` was appended. */
  readonly returns: boolean;
}

/** What the path leads to: a regular file, something else, or the errno of the look-up. */
export type PathKind = 'regular' | 'other' | ErrnoName;
export type PathLookup = (path: string) => PathKind;

export interface SiteOptions {
  /** Only what a kernel accepts. */
  readonly kernelOnly: boolean;
  readonly lookup: PathLookup;
}

const WORD = 1;

const refuse = (code: FaultCode, offset: number, errno?: ErrnoName): never => {
  throw new Refusal(code, WORD, offset, errno);
};

const NOT_A_SITE = 'the site must be PATH:OFFSET, PATH:SYMBOL[+N] or PATH:%PROVIDER:NAME';

const usdtSite = (text: string): Site | null => {
  const [, path, provider, name] = /^(.+):%([A-Za-z_]\w*):([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (path === undefined || provider === undefined || name === undefined) return null;
  return { path, spot: { kind: 'usdt', provider, name }, refCtr: 0n, returns: false };
};

const checkPath = (path: string, lookup: PathLookup): void => {
  const kind = lookup(path);
  if (kind === 'other') refuse('NO_REGULAR_FILE', 0);
  else if (kind !== 'regular') refuse('FILE_NOT_FOUND', 0, kind);
};

/** `(REF)`, which must end the word. `at` = offset of the place text in the word. */
const refCtrOf = (place: string, at: number): bigint => {
  const open = place.indexOf('(');
  if (open < 0) return 0n;
  const close = place.indexOf(')', open);
  if (close < 0) refuse('REFCNT_OPEN_BRACE', at + place.length);
  if (close !== place.length - 1) refuse('BAD_REFCNT_SUFFIX', at + close + 1);
  const value = parseUnsigned(place.slice(open + 1, close));
  return typeof value === 'bigint' ? value : refuse('BAD_REFCNT', at + open + 1, value);
};

const symbolSpot = (text: string, at: number): Spot => {
  const [, symbol, plus, addendText = '0'] = /^([^+]+)(\+(.*))?$/.exec(text) ?? [];
  if (symbol === undefined) throw new Refusal(null, WORD, at, 'EINVAL', NOT_A_SITE);
  const addend = parseUnsigned(plus === undefined ? '0' : addendText);
  if (typeof addend === 'string') return refuse('BAD_UPROBE_OFFS', at + symbol.length + 1, addend);
  return { kind: 'symbol', symbol, addend };
};

const spotOf = (text: string, at: number): Spot => {
  if (!/^\d/.test(text)) return symbolSpot(text, at);
  const offset = parseUnsigned(text);
  return typeof offset === 'bigint'
    ? { kind: 'offset', offset }
    : refuse('BAD_UPROBE_OFFS', at, offset);
};

/** Parses the site word. Throws a {@link Refusal}. */
export const parseSite = (text: string, { kernelOnly, lookup }: SiteOptions): Site => {
  const usdt = kernelOnly ? null : usdtSite(text);
  if (usdt !== null) {
    checkPath(usdt.path, lookup);
    return usdt;
  }
  const colon = text.lastIndexOf(':');
  const path = text.slice(0, colon);
  const place = text.slice(colon + 1);
  // These the kernel refuses without a word in error_log.
  const shaped = kernelOnly
    ? text.includes('/') && /^\d/.test(place)
    : path !== '' && /^[^(%]/.test(place);
  if (colon < 0 || !shaped) throw new Refusal(null, WORD, 0, 'EINVAL', NOT_A_SITE);
  checkPath(path, lookup);

  const at = colon + 1;
  const refCtr = refCtrOf(place, at);
  const [beforeRef = ''] = place.split('(');
  const percent = beforeRef.indexOf('%');
  if (percent >= 0 && beforeRef.slice(percent) !== '%return')
    refuse('BAD_ADDR_SUFFIX', at + percent);
  const spot = spotOf(percent < 0 ? beforeRef : beforeRef.slice(0, percent), at);
  return { path, spot, refCtr, returns: percent >= 0 };
};
