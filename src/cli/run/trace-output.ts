/** Where the trace goes: a file, or one of the streams that the guest uses too. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { ProcessStdio } from '../../host/node/index.ts';
import { hitJson, type TraceRecord, type TraceSink, textBytes, traceLine } from '../../index.ts';
import { fileError } from '../files.ts';

/** Takes whole lines. */
export interface LineOutput {
  line(text: string): void;
  flush(): void;
  close(): void;
  /** Why lines cannot be written any more, or null. */
  readonly error: string | null;
}

const BUFFERED = 64 * 1024;

class FileOutput implements LineOutput {
  readonly #fd: number;
  #lines = '';
  #error: string | null = null;

  constructor(path: string) {
    try {
      this.#fd = openSync(path, 'w');
    } catch (cause) {
      throw fileError('write', path, cause);
    }
  }

  get error(): string | null {
    return this.#error;
  }

  line(text: string): void {
    this.#lines += `${text}\n`;
    if (this.#lines.length >= BUFFERED) this.flush();
  }

  flush(): void {
    const bytes = textBytes(this.#lines);
    this.#lines = '';
    if (this.#error !== null) return;
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    } catch (error) {
      this.#error = (error as NodeJS.ErrnoException).code ?? 'EIO';
    }
  }

  close(): void {
    this.flush();
    closeSync(this.#fd);
  }
}

/** Opens `-o`; absent = stderr, `-` = stdout. The streams are closed by their owner. */
export const openOutput = (path: string | undefined, stdio: ProcessStdio): LineOutput => {
  if (path !== undefined && path !== '-') return new FileOutput(path);
  const shared = path === '-' ? stdio.stdout : stdio.stderr;
  return {
    line: (text) => shared.line(text),
    flush: () => shared.flush(),
    close: () => shared.flush(),
    get error() {
      return shared.error;
    },
  };
};

/** Records as the kernel's lines or as JSON lines. */
export const traceSink = (output: LineOutput, json: boolean): TraceSink => {
  let seq = 0;
  const text = json
    ? (record: TraceRecord) => hitJson(record, ++seq)
    : (record: TraceRecord) => traceLine(record);
  return { wantsRegisters: json, emit: (record) => output.line(text(record)) };
};
