/** A line on a terminal that says how far we are; nothing where nobody looks. */
export interface Progress {
  step(): void;
  /** Takes the line away before something else is printed. */
  clear(): void;
}

const EVERY_MS = 100;

export const progressOn = (stream: NodeJS.WriteStream, total: number): Progress => {
  if (!stream.isTTY) return { step: () => {}, clear: () => {} };
  let done = 0;
  let shown = false;
  let last = 0;
  return {
    step: () => {
      done++;
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      shown = true;
      stream.write(`\r\x1b[K${done}/${total}`);
    },
    clear: () => {
      if (shown) stream.write('\r\x1b[K');
      shown = false;
    },
  };
};
