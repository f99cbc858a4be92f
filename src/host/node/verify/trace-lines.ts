/** `COMM-TID [CPU] FLAGS SECONDS.MICROS: EVENT: …`; a command's name may hold anything. */
const LINE = /^.{16,}?-(\d+)\s+\[\d+\] \S+ +\d+\.\d{6}: (.*)$/;

/**
 * What follows the columns, of one thread's lines. Text that does not begin with columns belongs to the
 * line before it: string arguments may hold line ends.
 */
export const bodiesOf = (trace: string, tid: number): readonly string[] => {
  const bodies: string[] = [];
  let ours = false;
  for (const line of trace.replace(/\n$/, '').split('\n')) {
    const [whole, thread, body = ''] = LINE.exec(line) ?? [];
    if (whole === undefined) {
      if (ours) bodies.push(line);
      continue;
    }
    ours = Number(thread) === tid;
    if (ours) bodies.push(body);
  }
  return bodies;
};
