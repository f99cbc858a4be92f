/** The part of siginfo_t that we deliver. */
export interface SignalInfo {
  /** Signal number. */
  readonly signal: number;
  /** si_code; SI_KERNEL is 128. */
  readonly code: number;
  /** si_addr of fault signals. */
  address?: bigint;
  /** si_pid / si_uid of signals sent by a process. */
  readonly pid?: number;
  readonly uid?: number;
}
