/** A decoded argument as people read it: `s32 edi`, `u64 [rbp-24]`, `s16 [rdx+rax*2]`. */
import { isKnown, type UnknownArgument, type UsdtArgument, type UsdtMemory } from './argument.ts';

export const showUsdtArgument = (argument: UsdtArgument | UnknownArgument): string =>
  isKnown(argument) ? `${typeOf(argument)} ${operandOf(argument)}` : `? ${argument.problem}`;

const LETTERS = { signed: 's', unsigned: 'u', float: 'f' } as const;

const typeOf = ({ format, size }: UsdtArgument): string => `${LETTERS[format]}${size * 8}`;

const operandOf = ({ operand }: UsdtArgument): string => {
  switch (operand.kind) {
    case 'constant':
      return `constant ${operand.value}`;
    case 'register':
      return operand.register.name;
    case 'memory':
      return memoryOf(operand);
  }
};

const memoryOf = ({ displacement, symbol, base, index, scale, segment }: UsdtMemory): string => {
  const terms = [
    ...(symbol === null ? [] : [symbol.name]),
    ...(base === null ? [] : [base.name]),
    ...(index === null ? [] : [scale === 1 ? index.name : `${index.name}*${scale}`]),
  ];
  const offset =
    displacement === 0n && terms.length > 0
      ? ''
      : displacement < 0n || terms.length === 0
        ? `${displacement}`
        : `+${displacement}`;
  return `${segment === null ? '' : `${segment}:`}[${terms.join('+')}${offset}]`;
};
