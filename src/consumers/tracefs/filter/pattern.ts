/**
 * How `==` and `~` compare text (trace_events_filter.c and lib/glob.c): bytes as latin-1 characters.
 * `size` is what the kernel believes the text's length to be, NUL included; 0 = it does not know.
 */
export type TextTest = (text: string, size: number) => boolean;

/** strncmp over `size` characters of a NUL-terminated text. */
const equals =
  (wanted: string): TextTest =>
  (text, size) =>
    size === 0 ? text === wanted : text.slice(0, size) === wanted.slice(0, size);

const startsWith =
  (wanted: string): TextTest =>
  (text, size) =>
    (size === 0 || size >= wanted.length) && text.startsWith(wanted);

const contains =
  (wanted: string): TextTest =>
  (text) =>
    text.includes(wanted);

/** Looks where the end would be if the text filled all of `size`. */
const endsWith =
  (wanted: string): TextTest =>
  (text, size) => {
    const start = size - 1 - wanted.length;
    return start >= 0 && text.slice(start, size - 1) === wanted;
  };

/** One element of a glob: what a character must be; null = any run of characters. */
type Element = ((char: string) => boolean) | null;

/** `[a-z]` from `at` on, where the bracket is; undefined when it never ends. */
const characterClass = (
  pattern: string,
  at: number,
): { readonly test: (char: string) => boolean; readonly next: number } | undefined => {
  const negated = pattern[at + 1] === '!';
  const ranges: (readonly [string, string])[] = [];
  let i = at + (negated ? 2 : 1);
  // A closing bracket in the first place stands for itself.
  do {
    const low = pattern[i];
    if (low === undefined) return undefined;
    const isRange = pattern[i + 1] === '-' && pattern[i + 2] !== ']';
    const high = isRange ? pattern[i + 2] : low;
    if (high === undefined) return undefined;
    ranges.push([low, high]);
    i += isRange ? 3 : 1;
  } while (pattern[i] !== ']');
  const within = (char: string): boolean =>
    ranges.some(([low, high]) => low <= char && char <= high);
  return { test: (char) => within(char) !== negated, next: i + 1 };
};

const elementsOf = (pattern: string): Element[] => {
  const elements: Element[] = [];
  for (let i = 0; i < pattern.length; ) {
    const char = pattern[i]!;
    const set = char === '[' ? characterClass(pattern, i) : undefined;
    if (set !== undefined) {
      elements.push(set.test);
      i = set.next;
      continue;
    }
    const literal = char === '\\' ? (pattern[i + 1] ?? '') : char;
    if (char === '*') elements.push(null);
    else elements.push(char === '?' ? () => true : (other) => other === literal);
    i += char === '\\' ? 2 : 1;
  }
  return elements;
};

/** Greedy with one point to go back to: the last `*`. */
const glob = (pattern: string): TextTest => {
  const elements = elementsOf(pattern);
  return (text) => {
    let element = 0;
    let char = 0;
    let back: { element: number; char: number } | null = null;
    while (char < text.length) {
      const test = elements[element];
      if (test === null) back = { element: ++element, char };
      else if (test?.(text[char]!) === true) {
        element++;
        char++;
      } else if (back === null) return false;
      else {
        back.char++;
        element = back.element;
        char = back.char;
      }
    }
    while (elements[element] === null) element++;
    return element === elements.length;
  };
};

/** Whether a pattern needs the full glob: a star in the middle, or any of `? [ \`. */
const needsGlob = (pattern: string): boolean => {
  for (let i = 0; i < pattern.length; i++) {
    if ('?[\\'.includes(pattern[i]!)) return true;
    if (pattern[i] === '*' && i > 0) return i < pattern.length - 1;
  }
  return false;
};

const simplePattern = (pattern: string): TextTest => {
  // A pattern that begins with a digit is meant for another file and taken as it is.
  if (/^\d/.test(pattern)) return equals(pattern);
  if (needsGlob(pattern)) return glob(pattern);
  const front = pattern.startsWith('*');
  const back = pattern.length > 1 && pattern.endsWith('*');
  const inner = pattern.slice(front ? 1 : 0, back ? -1 : undefined);
  if (front) return back ? contains(inner) : endsWith(inner);
  return back ? startsWith(inner) : equals(inner);
};

/** The right side of `==`. */
export const sameText = equals;

/** The right side of `~`; a leading `!` turns it round. */
export const matchesPattern = (pattern: string): TextTest => {
  if (!pattern.startsWith('!')) return simplePattern(pattern);
  const test = simplePattern(pattern.slice(1));
  return (text, size) => !test(text, size);
};
