/** Rooms of the spec map: one for each different argument string of each attachment. */
const ROOMS = 256;

/** The spec map of one user of libbpf: BPF_USDT_MAX_SPEC_CNT rooms, used again after a detachment. */
export class UsdtSpecs {
  #used = 0;

  /** False when there is not enough room: E2BIG. */
  take(count: number): boolean {
    if (this.#used + count > ROOMS) return false;
    this.#used += count;
    return true;
  }

  giveBack(count: number): void {
    this.#used -= count;
  }
}
