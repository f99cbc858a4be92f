/** Why an operation of ours failed, for programs; the message is for people. */
export type ErrorCode =
  | 'bad-elf'
  | 'bad-option'
  | 'bad-probe'
  | 'bad-table'
  | 'engine-missing'
  | 'engine-limit'
  | 'file-missing'
  | 'limit'
  | 'internal';

/** Extra facts an error carries. */
export interface ErrorDetails {
  /** What to do instead; printed after the message. */
  readonly hint?: string;
  /** Linux errno by name, where the kernel would have answered with one (`EINVAL`, `ENOTSUPP` …). */
  readonly errno?: string;
  readonly cause?: unknown;
}

/**
 * The one error class of the library. Layers throw it for what the *host user* did wrong or what we
 * cannot do; what the *guest* did wrong is an errno or a signal and never an exception.
 */
export class TraplineError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly errno: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'TraplineError';
    this.code = code;
    this.hint = details.hint;
    this.errno = details.errno;
  }
}
