import type { Hit } from '../../uprobes/index.ts';
import type { UsdtArgument } from './argument.ts';
import { type UsdtValue, usdtValue } from './value.ts';

/** What a site of an attached USDT probe needs at a hit. */
export interface UsdtSpec {
  readonly arguments: readonly UsdtArgument[];
  /** Link-time address of the instruction that is probed. */
  readonly address: bigint;
}

/**
 * What a USDT handler sees. One object an attachment, overwritten by the next hit: copy what must
 * outlive the call.
 */
export class UsdtHit {
  /** The probe hit beneath. */
  hit!: Hit;
  /** Given at attach, bpf_usdt_cookie(); 0 = none. */
  readonly cookie: bigint;
  #spec!: UsdtSpec;

  constructor(cookie: bigint) {
    this.cookie = cookie;
  }

  /** For the attachment only. */
  at(hit: Hit, spec: UsdtSpec): this {
    this.hit = hit;
    this.#spec = spec;
    return this;
  }

  /** bpf_usdt_arg_cnt(). */
  get count(): number {
    return this.#spec.arguments.length;
  }

  /**
   * bpf_usdt_arg(): integers extended by their sign and size, floating point as a number.
   * @returns ENOENT when the probe has no such argument, EFAULT when its memory cannot be read
   */
  arg(index: number): UsdtValue | 'ENOENT' {
    const argument = this.#spec.arguments[index];
    if (argument === undefined) return 'ENOENT';
    return usdtValue(argument, this.hit, this.hit.site - this.#spec.address);
  }

  /** bpf_usdt_arg_size(): bytes. */
  size(index: number): number | 'ENOENT' {
    return this.#spec.arguments[index]?.size ?? 'ENOENT';
  }
}
