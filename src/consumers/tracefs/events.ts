import type { FetchArg } from '../event/argument.ts';
import type { BoundDefinition } from '../event/definition.ts';
import { type DefinitionFault, type FaultCode, faultOf, Refusal } from '../event/fault.ts';
import { type TraceContext, TracefsProbe } from './probe.ts';

export type AddResult =
  | { readonly ok: true; readonly probe: TracefsProbe }
  | { readonly ok: false; readonly fault: DefinitionFault };

const sameArg = (a: FetchArg, b: FetchArg): boolean =>
  a.name === b.name && a.type === b.type && a.count === b.count;

/** Index of the first argument that keeps two probes from being siblings, or -1. */
const firstDifference = (a: readonly FetchArg[], b: readonly FetchArg[]): number => {
  const common = Math.min(a.length, b.length);
  const index = a.slice(0, common).findIndex((arg, i) => !sameArg(arg, b[i]!));
  return index < 0 && a.length !== b.length ? common : index;
};

const samePlace = (probe: TracefsProbe, bound: BoundDefinition, inode: object): boolean =>
  probe.inode === inode && probe.definition.offset === bound.offset;

const sameExpressions = (a: BoundDefinition, b: BoundDefinition): boolean =>
  a.args.every((arg, i) => arg.expression === b.args[i]!.expression);

/** The probes of `uprobe_events`: names, siblings, hit counters. */
export class TraceEvents {
  readonly #context: TraceContext;
  readonly #probes: TracefsProbe[] = [];

  constructor(context: TraceContext) {
    this.#context = context;
  }

  /** In the order of definition. */
  get probes(): readonly TracefsProbe[] {
    return this.#probes;
  }

  /**
   * Adds a definition, to an existing event when the name is known and type and arguments agree.
   * @param inode the probed file; the same object for the same file.
   */
  add(bound: BoundDefinition, inode: object): AddResult {
    const refusal = this.#check(bound, inode);
    if (refusal !== null) return { ok: false, fault: faultOf(refusal, bound.command.split(' ')) };
    const probe = new TracefsProbe(bound, inode, this.#context);
    this.#probes.push(probe);
    return { ok: true, probe };
  }

  /** Forgets a probe. Preconditions: its consumer is unregistered. */
  remove(probe: TracefsProbe): void {
    const index = this.#probes.indexOf(probe);
    if (index >= 0) this.#probes.splice(index, 1);
  }

  #check(bound: BoundDefinition, inode: object): Refusal | null {
    const exists = (code: FaultCode, word = 0): Refusal => new Refusal(code, word, 0, 'EEXIST');
    const clash = this.#probes.some(
      (probe) => samePlace(probe, bound, inode) && probe.definition.refCtr !== bound.refCtr,
    );
    if (clash)
      return new Refusal(null, 0, 0, 'EINVAL', 'another probe there has another reference counter');
    const siblings = this.#probes.filter(
      ({ definition }) => definition.group === bound.group && definition.event === bound.event,
    );
    const [first] = siblings;
    if (first === undefined) return null;
    if (first.definition.kind !== bound.kind) return exists('DIFF_PROBE_TYPE');
    const different = firstDifference(bound.args, first.definition.args);
    if (different >= 0) return exists('DIFF_ARG_TYPE', different + 2);
    const same = siblings.some(
      (probe) => samePlace(probe, bound, inode) && sameExpressions(probe.definition, bound),
    );
    return same ? exists('SAME_PROBE') : null;
  }
}
