/** The handle of one attachment; made by the machine only. */
export interface Link extends Disposable {
  /** Where it sits; a symbol or USDT name may stand for several places. */
  readonly sites: readonly LinkSite[];
  /** Takes the probes out again. A second call does nothing. */
  close(): void;
}

/** One place a link sits on. */
export interface LinkSite {
  /** Guest path of the file. */
  readonly path: string;
  /** File offset of the probed instruction. */
  readonly offset: bigint;
}

/** A link from its places and what undoes it. */
export const makeLink = (sites: readonly LinkSite[], detach: () => void): Link => {
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    detach();
  };
  return { sites, close, [Symbol.dispose]: close };
};
