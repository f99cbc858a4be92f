/** A line-by-line difference for failure messages. */

const CONTEXT = 3;

interface Edit {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** Longest common subsequence, after equal ends are taken off; fine for some thousand lines. */
const edits = (left: readonly string[], right: readonly string[]): readonly Edit[] => {
  const width = right.length + 1;
  const common = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      common[i * width + j] =
        left[i] === right[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const found: Edit[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      found.push({ mark: ' ', line: left[i]! });
      i++;
      j++;
    } else if (
      j >= right.length ||
      (i < left.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      found.push({ mark: '-', line: left[i++]! });
    else found.push({ mark: '+', line: right[j++]! });
  }
  return found;
};

const commonPrefix = (left: readonly string[], right: readonly string[]): number => {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count++;
  return count;
};

/**
 * `-` lines are expected and missing, `+` lines are there and unexpected; empty when all are equal.
 * @param limit lines shown at most
 */
export const unifiedDiff = (
  expected: readonly string[],
  actual: readonly string[],
  limit = 40,
): string => {
  const equal = commonPrefix(expected, actual);
  if (equal === expected.length && equal === actual.length) return '';
  const from = Math.max(0, equal - CONTEXT);
  const rest = edits(expected.slice(from, from + 2000), actual.slice(from, from + 2000));
  const lines = rest.map(({ mark, line }) => `${mark}${line}`);
  const cut = lines.length > limit ? [`… ${lines.length - limit} lines more`] : [];
  return [`at line ${from + 1}:`, ...lines.slice(0, limit), ...cut].join('\n');
};
