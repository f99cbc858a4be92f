import type { Via } from '../../uprobes/index.ts';

/** Value of one fetch argument after evaluation. */
export type ArgValue =
  /** `hex`: of an `x` type, printed with 0x. */
  | { readonly kind: 'number'; readonly value: bigint; readonly hex: boolean }
  /** One byte of type `char`. */
  | { readonly kind: 'char'; readonly value: number }
  /** null = the memory could not be read: printed `(fault)`. */
  | { readonly kind: 'string'; readonly value: string | null }
  | { readonly kind: 'array'; readonly values: readonly ArgValue[] };

/** General registers by pt_regs name, plus ip and flags. */
export type RegisterName =
  | 'ax'
  | 'bx'
  | 'cx'
  | 'dx'
  | 'si'
  | 'di'
  | 'bp'
  | 'sp'
  | 'r8'
  | 'r9'
  | 'r10'
  | 'r11'
  | 'r12'
  | 'r13'
  | 'r14'
  | 'r15'
  | 'ip'
  | 'flags';

/** One argument of a record. */
export interface RecordArg {
  readonly name: string;
  readonly value: ArgValue;
  /** The value as the kernel prints it (`0x2a`, `-7`, `"text"`). Guest bytes that are no UTF-8 are lone surrogates U+DC80…U+DCFF. */
  readonly text: string;
}

/** One trace record: plain data, made once per hit and event that wants it. */
export interface TraceRecord {
  readonly timeNs: bigint;
  readonly tgid: number;
  readonly tid: number;
  readonly cpu: number;
  readonly comm: string;
  readonly group: string;
  readonly event: string;
  readonly kind: 'entry' | 'return';
  readonly via: Via;
  /** Entry: the site. Return: where the function returns to. */
  readonly ip: bigint;
  /** Return: the function's address. */
  readonly func: bigint | null;
  readonly args: readonly RecordArg[];
  /** Null unless the sink asked for registers. */
  readonly regs: Readonly<Record<RegisterName, bigint>> | null;
}

/** Where records go. */
export interface TraceSink {
  /** Records carry all registers. */
  readonly wantsRegisters: boolean;
  emit(record: TraceRecord): void;
}
