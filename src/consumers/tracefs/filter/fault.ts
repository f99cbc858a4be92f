import type { ErrnoName } from '../../../abi/errno.ts';

/** What a refused filter is told (Linux 6.18), by the kernel's own code names. */
export const FILTER_FAULT_TEXT = {
  INVALID_OP: 'Invalid operator',
  TOO_MANY_OPEN: "Too many '('",
  TOO_MANY_CLOSE: "Too few '('",
  MISSING_QUOTE: 'Missing matching quote',
  MISSING_BRACE_OPEN: "Missing '{'",
  MISSING_BRACE_CLOSE: "Missing '}'",
  OPERAND_TOO_LONG: 'Operand too long',
  EXPECT_STRING: 'Expecting string field',
  EXPECT_DIGIT: 'Expecting numeric field',
  ILLEGAL_FIELD_OP: 'Illegal operation for field type',
  FIELD_NOT_FOUND: 'Field not found',
  ILLEGAL_INTVAL: 'Illegal integer value',
  BAD_SUBSYS_FILTER: "Couldn't find or set field in one of a subsystem's events",
  TOO_MANY_PREDS: 'Too many terms in predicate expression',
  INVALID_CPULIST: 'Invalid cpulist',
  INVALID_VALUE: 'Invalid value (did you forget quotes)?',
  NO_FUNCTION: 'Function not found',
  NO_FILTER: 'No filter found',
} as const;
export type FilterFaultCode = keyof typeof FILTER_FAULT_TEXT;

/** Why a filter is refused. Thrown by the parser only. */
export class FilterFault {
  /** Null where the kernel knows nothing but the errno. */
  readonly code: FilterFaultCode | null;
  /** Where the caret goes, as the kernel counts. */
  readonly at: number;
  readonly errno: ErrnoName;

  constructor(code: FilterFaultCode | null, at: number, errno: ErrnoName = 'EINVAL') {
    this.code = code;
    this.at = at;
    this.errno = errno;
  }
}

/** What reading the `filter` file shows after a refusal, without the last line end. */
export const faultFilterText = (filter: string, { code, at }: FilterFault): string =>
  code === null
    ? `${filter}\nError: (0)\n`
    : `${filter}\n${' '.repeat(Math.min(at, filter.length))}^\nparse_error: ${FILTER_FAULT_TEXT[code]}\n`;
