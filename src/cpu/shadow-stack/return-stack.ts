import type { ShadowStack } from '../engine.ts';

/**
 * The addresses on a shadow stack. Programs cannot see it as memory here: rdssp, incssp, wrss and
 * rstorssp do not exist, and there is no limit.
 */
export class ReturnStack implements ShadowStack {
  #addresses: bigint[] = [];

  get top(): bigint | undefined {
    return this.#addresses.at(-1);
  }

  push(address: bigint): void {
    this.#addresses.push(address);
  }

  pop(): bigint | undefined {
    return this.#addresses.pop();
  }

  replaceTop(address: bigint): boolean {
    if (this.#addresses.length === 0) return false;
    this.#addresses[this.#addresses.length - 1] = address;
    return true;
  }

  save(): readonly bigint[] {
    return [...this.#addresses];
  }

  load(addresses: readonly bigint[]): void {
    this.#addresses = [...addresses];
  }
}
