export interface Requirement {
  readonly apt: string;
  readonly why: string;
  readonly optional: boolean;
  present(): boolean;
}
export declare const requirements: Readonly<
  Record<
    | 'gcc'
    | 'sys/sdt.h'
    | 'musl-gcc'
    | 'libunicorn2'
    | 'chromium-headless-shell'
    | 'kernel 6.18 as root',
    Requirement
  >
>;
