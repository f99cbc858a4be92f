import { FilterFault } from './fault.ts';

/**
 * The check the kernel makes before it looks at any term: brackets pair and quotes end. Throws a
 * {@link FilterFault}.
 */
export const checkBrackets = (text: string): void => {
  const open: number[] = [];
  let quote = '';
  let quoteAt = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") {
      quote = char;
      quoteAt = at;
    } else if (char === '(') open.push(at);
    else if (char === ')' && open.pop() === undefined)
      throw new FilterFault('TOO_MANY_CLOSE', at, 'EPERM');
  }
  if (quote !== '') throw new FilterFault('MISSING_QUOTE', quoteAt, 'ESRCH');
  const unpaired = open.at(-1);
  if (unpaired !== undefined) throw new FilterFault('TOO_MANY_OPEN', unpaired, 'ENOENT');
};
