import { type ErrnoName, errnoNumber } from '../../abi/errno.ts';
import { TraplineError } from '../../base/errors.ts';
import { HINTS } from './hints.ts';

/** What the kernel writes into error_log (Linux 6.18.44), by the kernel's own code names. */
export const FAULT_TEXT = {
  FILE_NOT_FOUND: 'Failed to find the given file',
  NO_REGULAR_FILE: 'Not a regular file',
  REFCNT_OPEN_BRACE: 'Reference counter brace is not closed',
  BAD_REFCNT_SUFFIX: 'Reference counter has wrong suffix',
  BAD_REFCNT: 'Invalid reference counter offset',
  BAD_ADDR_SUFFIX: 'Invalid probed address suffix',
  BAD_UPROBE_OFFS: 'Invalid uprobe offset',
  TOO_MANY_ARGS: 'Too many arguments are specified',
  NO_GROUP_NAME: 'Group name is not specified',
  GROUP_TOO_LONG: 'Group name is too long',
  BAD_GROUP_NAME: 'Group name must follow the same rules as C identifiers',
  NO_EVENT_NAME: 'Event name is not specified',
  EVENT_TOO_LONG: 'Event name is too long',
  BAD_EVENT_NAME: 'Event name must follow the same rules as C identifiers',
  ARG_NAME_TOO_LONG: 'Argument name is too long',
  NO_ARG_NAME: 'Argument name is not specified',
  BAD_ARG_NAME: 'Argument name must follow the same rules as C identifiers',
  USED_ARG_NAME: 'This argument name is already used',
  ARG_TOO_LONG: 'Argument expression is too long',
  NO_ARG_BODY: 'No argument expression',
  ARRAY_NO_CLOSE: 'Array is not closed',
  BAD_ARRAY_SUFFIX: 'Array has wrong suffix',
  BAD_ARRAY_NUM: 'Invalid array size',
  ARRAY_TOO_BIG: 'Array number is too big',
  BAD_TYPE: 'Unknown type is specified',
  NEED_STRING_TYPE: '$comm and immediate-string only accepts string type',
  BAD_STRING: 'String accepts only memory argument',
  BAD_BITFIELD: 'Invalid bitfield',
  BAD_VAR: 'Invalid $-variable specified',
  BAD_ARG_NUM: 'Invalid argument number',
  NOFENTRY_ARGS: '$arg* can be used only on function entry or exit',
  RETVAL_ON_PROBE: '$retval is not available on probe',
  BAD_REG_NAME: 'Invalid register name',
  BAD_MEM_ADDR: 'Invalid memory address',
  BAD_FILE_OFFS: 'Invalid file offset value',
  SYM_ON_UPROBE: 'Symbol is not available with uprobe',
  DEREF_NEED_BRACE: 'Dereference needs a brace',
  BAD_DEREF_OFFS: 'Invalid dereference offset',
  DEREF_OPEN_BRACE: 'Dereference brace is not closed',
  COMM_CANT_DEREF: '$comm can not be dereferenced',
  TOO_MANY_OPS: 'Dereference is too much nested',
  BAD_IMM: 'Invalid immediate value',
  IMMSTR_NO_CLOSE: "String is not closed with '\"'",
  NOSUP_BTFARG: 'BTF is not available or not supported',
  BAD_FETCH_ARG: 'Invalid fetch argument',
  EVENT_TOO_BIG: 'Event too big (too many fields?)',
  DIFF_PROBE_TYPE: 'Probe type is different from existing probe',
  DIFF_ARG_TYPE: 'Argument type or name is different from existing probe',
  SAME_PROBE: 'There is already the exact same probe event',
} as const;
export type FaultCode = keyof typeof FAULT_TEXT;

/** Why a definition is refused. */
export interface DefinitionFault {
  readonly errno: ErrnoName;
  /** Null where the kernel answers with the errno alone and logs nothing. */
  readonly log: { readonly code: FaultCode; readonly caret: number } | null;
  /** The words of the definition joined by single blanks, as error_log shows them. */
  readonly command: string;
  /** A sentence for people where the kernel says nothing. */
  readonly reason?: string;
}

/** Thrown inside the parser only; `parseDefinition` turns it into a {@link DefinitionFault}. */
export class Refusal {
  readonly code: FaultCode | null;
  readonly word: number;
  readonly offset: number;
  readonly errno: ErrnoName;
  readonly reason: string | undefined;

  constructor(
    code: FaultCode | null,
    word: number,
    offset: number,
    errno: ErrnoName = 'EINVAL',
    reason?: string,
  ) {
    this.code = code;
    this.word = word;
    this.offset = offset;
    this.errno = errno;
    this.reason = reason;
  }
}

/** Where a word starts in the joined command; one past the end for a word that is not there. */
const wordStart = (words: readonly string[], index: number): number =>
  words.slice(0, index).reduce((sum, word) => sum + word.length + 1, 0);

/** The fault as the kernel would log it. */
export const faultOf = (refusal: Refusal, words: readonly string[]): DefinitionFault => ({
  errno: refusal.errno,
  command: words.join(' '),
  log:
    refusal.code === null
      ? null
      : { code: refusal.code, caret: wordStart(words, refusal.word) + refusal.offset },
  ...(refusal.reason === undefined ? {} : { reason: refusal.reason }),
});

/** The lines of error_log without the time stamp. */
export const faultLog = (fault: DefinitionFault): string[] =>
  fault.log === null
    ? []
    : [
        `trace_uprobe: error: ${FAULT_TEXT[fault.log.code]}`,
        `  Command: ${fault.command}`,
        `${' '.repeat('  Command: '.length + fault.log.caret)}^`,
      ];

const place = ({ log, command }: DefinitionFault): string => {
  if (log === null) return '';
  const rest = command.slice(log.caret);
  return rest === '' || rest.startsWith(' ')
    ? ' at the end of a word'
    : ` at "${rest.split(' ')[0]}"`;
};

/** One line that names the probe, the reason and the kernel's errno. */
export const faultError = (fault: DefinitionFault): TraplineError => {
  const reason = fault.log
    ? FAULT_TEXT[fault.log.code]
    : (fault.reason ?? 'not a probe definition');
  const hint = fault.log === null ? undefined : HINTS[fault.log.code];
  const errno = `${fault.errno}, errno ${errnoNumber(fault.errno)}`;
  return new TraplineError(
    'bad-probe',
    `probe "${fault.command}": ${reason}${place(fault)} (${errno})`,
    { errno: fault.errno, ...(hint !== undefined && { hint }) },
  );
};
