/** A line that says how far we are: written over itself on a terminal, now and then a new one elsewhere. */
export interface Progress<T> {
  /** Shows how far we are if it is time for a new line. */
  show(state: T): void;
  /** Takes the line away before something else is printed. */
  clear(): void;
}

/** Milliseconds between two lines of each kind; null = none. */
export interface Pace {
  readonly terminal: number;
  readonly file: number | null;
}

export const progressOn = <T>(
  stream: NodeJS.WriteStream,
  pace: Pace,
  lineOf: (state: T) => string,
): Progress<T> => {
  const every = stream.isTTY ? pace.terminal : pace.file;
  if (every === null) return { show: () => {}, clear: () => {} };
  let last = performance.now();
  let shown = false;
  return {
    show: (state) => {
      const now = performance.now();
      if (now - last < every) return;
      last = now;
      shown = stream.isTTY;
      stream.write(stream.isTTY ? `\r\x1b[K${lineOf(state)}` : `trapline: ${lineOf(state)}\n`);
    },
    clear: () => {
      if (shown) stream.write('\r\x1b[K');
      shown = false;
    },
  };
};
