/**
 * The argument descriptions of a USDT note: `SIZE@OPERAND`, blanks between, operands as the
 * compiler prints them for the assembler (AT&T). Follows libbpf where it reads a form, and goes on
 * where it gives up: constants in hex, symbols, segments, floating point.
 */
import { type UsdtRegister, usdtRegister } from './registers.ts';

/** What a description means. */
export interface UsdtArgument {
  /** As written. */
  readonly source: string;
  readonly size: 1 | 2 | 4 | 8;
  readonly format: 'signed' | 'unsigned' | 'float';
  readonly operand: UsdtOperand;
}

export type UsdtOperand =
  | { readonly kind: 'constant'; readonly value: bigint }
  | { readonly kind: 'register'; readonly register: UsdtRegister }
  | UsdtMemory;

/** Memory at displacement + symbol + base + index * scale. */
export interface UsdtMemory {
  readonly kind: 'memory';
  readonly displacement: bigint;
  /** Link-time address of a symbol, already looked up. */
  readonly symbol: { readonly name: string; readonly address: bigint } | null;
  readonly base: UsdtRegister | null;
  readonly index: UsdtRegister | null;
  readonly scale: 1 | 2 | 4 | 8;
  readonly segment: 'fs' | 'gs' | null;
}

/** A description that means nothing to us; the others of its probe are not touched. */
export interface UnknownArgument {
  readonly source: string;
  readonly problem: string;
  /** What libbpf answers at attach. */
  readonly errno: 'EINVAL' | 'ENOENT';
}

/** The address of a symbol in the file the note is in. */
export type SymbolLookup = (name: string) => bigint | undefined;

/** Arguments libbpf has room for. */
export const MAX_USDT_ARGS = 12;

/** Blanks before the next SIZE@; sscanf, which libbpf reads with, lets blanks stand anywhere. */
const BETWEEN = /\s+(?=-?\d+f?\s*@)/;
const HEAD = /^(-?)(\d+)(f?)@(.*)$/;
const SIZES: readonly number[] = [1, 2, 4, 8];

/** All arguments of a probe. */
export const parseUsdtArguments = (
  text: string,
  lookup: SymbolLookup,
): readonly (UsdtArgument | UnknownArgument)[] =>
  text
    .trim()
    .split(BETWEEN)
    .filter((item) => item !== '')
    .map((source) => parseItem(source, lookup));

export const isKnown = (argument: UsdtArgument | UnknownArgument): argument is UsdtArgument =>
  'operand' in argument;

const parseItem = (source: string, lookup: SymbolLookup): UsdtArgument | UnknownArgument => {
  const unknown = (problem: string, errno: UnknownArgument['errno'] = 'EINVAL') => ({
    source,
    problem,
    errno,
  });
  const [, sign, digits, float, text] = HEAD.exec(source.replace(/\s+/g, '')) ?? [];
  if (text === undefined) return unknown('it is not SIZE@OPERAND');
  const size = Number(digits);
  if (!isSize(size)) return unknown(`a size of ${digits} bytes; there are 1, 2, 4 and 8`);
  if (float === 'f' && size < 4) return unknown(`floating point of ${size} bytes`);
  const operand = parseOperand(text, lookup);
  if ('problem' in operand) return unknown(operand.problem, operand.errno);
  const isVector = operand.kind === 'register' && operand.register.part === 'vector';
  if (isVector && float !== 'f' && size !== 8 && size !== 4)
    return unknown(`${size} bytes of a vector register`);
  const format = float === 'f' ? 'float' : sign === '-' ? 'signed' : 'unsigned';
  return { source, size, format, operand };
};

const isSize = (size: number): size is UsdtArgument['size'] => SIZES.includes(size);

type Problem = Pick<UnknownArgument, 'problem' | 'errno'>;

const invalid = (problem: string): Problem => ({ problem, errno: 'EINVAL' });

const parseOperand = (text: string, lookup: SymbolLookup): UsdtOperand | Problem => {
  if (text.startsWith('$')) return parseConstant(text.slice(1), lookup);
  const name = /^%(\w+)$/.exec(text)?.[1];
  if (name === undefined) return parseMemory(text, lookup);
  const register = usdtRegister(name);
  return register === undefined ? noRegister(name) : { kind: 'register', register };
};

const noRegister = (name: string): Problem => ({
  problem: `there is no register %${name}`,
  errno: 'ENOENT',
});

const parseConstant = (text: string, lookup: SymbolLookup): UsdtOperand | Problem => {
  if (text === '') return invalid('it has no number');
  const place = parsePlace(text, lookup);
  if ('problem' in place) return place;
  // The address of a symbol moves with the program: it is no constant of the file.
  if (place.symbol !== null) return invalid(`$${text} is an address, not a number`);
  return { kind: 'constant', value: place.displacement };
};

const MEMORY = /^(?:%([fg]s):)?([^()]*)(?:\((?:%(\w+))?(?:,%(\w+)(?:,(\w+))?)?\))?$/;

const parseMemory = (text: string, lookup: SymbolLookup): UsdtOperand | Problem => {
  const match = MEMORY.exec(text);
  if (match === null) return invalid(`${text} is no operand we know`);
  const [, segment = null, where = '', baseName, indexName, scaleText = '1'] = match;
  if (where === '' && baseName === undefined && indexName === undefined)
    return invalid('it has no operand');
  const place = parsePlace(where, lookup);
  if ('problem' in place) return place;
  const base = baseName === undefined ? null : usdtRegister(baseName);
  const index = indexName === undefined ? null : usdtRegister(indexName);
  if (base === undefined) return noRegister(baseName ?? '');
  if (index === undefined) return noRegister(indexName ?? '');
  if (base?.part === 'vector' || index?.part === 'vector')
    return invalid('a vector register holds no address');
  const scale = Number(scaleText);
  if (!isSize(scale)) return invalid(`a scale of ${scaleText}; there are 1, 2, 4 and 8`);
  // counter(%rip) is counter: the assembler has taken the distance, the note has not.
  const relative = place.symbol !== null && base?.name === 'rip';
  return {
    kind: 'memory',
    ...place,
    base: relative ? null : base,
    index,
    scale,
    segment: segment as UsdtMemory['segment'],
  };
};

/** `-8`, `0x10`, `counter`, `counter+4`, `-4+counter`. */
const parsePlace = (
  text: string,
  lookup: SymbolLookup,
): Pick<UsdtMemory, 'displacement' | 'symbol'> | Problem => {
  let displacement = 0n;
  let symbol: UsdtMemory['symbol'] = null;
  for (const [term, sign, word = ''] of text.matchAll(/([-+]?)([^-+]*)/g)) {
    if (term === '') continue;
    if (/^(0x[\da-f]+|\d+)$/i.test(word)) {
      displacement += sign === '-' ? -BigInt(word) : BigInt(word);
      continue;
    }
    if (!/^[A-Za-z_.$][\w.$]*$/.test(word) || sign === '-' || symbol !== null)
      return invalid(`${text} is no number and no symbol`);
    const address = lookup(word);
    if (address === undefined)
      return { problem: `the file has no symbol ${word}`, errno: 'EINVAL' };
    symbol = { name: word, address };
  }
  return { displacement, symbol };
};
