import { secondsText } from '../event/text.ts';

/** Errors it keeps. */
const KEPT = 8;

/** One refusal. */
export interface LoggedError {
  readonly timeNs: bigint;
  /** Whose: `trace_uprobe`, or `event filter parse error`. */
  readonly location: string;
  readonly text: string;
  readonly command: string;
  /** Position in `command`, from 0. */
  readonly caret: number;
}

const entryText = ({ timeNs, location, text, command, caret }: LoggedError): string => {
  const line = '  Command: ';
  return `[${secondsText(timeNs)}] ${location}: error: ${text}\n${line}${command}\n${' '.repeat(line.length + caret)}^\n`;
};

/** `error_log`: the latest refusals, oldest first. */
export class ErrorLog {
  #errors: readonly LoggedError[] = [];

  add(error: LoggedError): void {
    this.#errors = [...this.#errors, error].slice(-KEPT);
  }

  /** Null when it is empty. */
  get latest(): LoggedError | null {
    return this.#errors.at(-1) ?? null;
  }

  clear(): void {
    this.#errors = [];
  }

  text(): string {
    return this.#errors.map(entryText).join('');
  }

  capture(): unknown {
    return this.#errors;
  }

  restore(state: unknown): void {
    this.#errors = state as readonly LoggedError[];
  }
}
