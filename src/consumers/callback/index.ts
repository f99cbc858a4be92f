import { type Consumer, HandlerResult, type Hit } from '../../uprobes/index.ts';

/** Called with the hit. What it answers matters at entry only; nothing = Continue. */
export type Callback = (hit: Hit) => HandlerResult | undefined;

/** Handlers of a function consumer; both = a session consumer, whose hits share a cookie. */
export interface Callbacks {
  readonly entry?: Callback;
  readonly return?: Callback;
  /** Whether the probe is wanted in an address space. Default: everywhere. */
  readonly filter?: Consumer['filter'];
}

/** A plain function as a consumer. */
export const callbackConsumer = ({ entry, return: onReturn, filter }: Callbacks): Consumer => ({
  ...(entry && { entry: (hit: Hit) => entry(hit) ?? HandlerResult.Continue }),
  ...(onReturn && {
    return: (hit: Hit) => {
      onReturn(hit);
    },
  }),
  ...(filter && { filter }),
});
