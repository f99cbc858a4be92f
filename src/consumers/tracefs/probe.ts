import { Reg } from '../../cpu/engine.ts';
import { type Consumer, HandlerResult, type Hit } from '../../uprobes/index.ts';
import { ArgBuffer } from '../event/buffer.ts';
import type { BoundDefinition } from '../event/definition.ts';
import { ArgLayout } from '../event/layout.ts';
import type { TraceSink } from '../event/record.ts';
import { registersOf } from '../event/registers.ts';
import { recordArgs } from '../event/value.ts';

/** What all probes of one machine share. */
export interface TraceContext {
  /** Nanoseconds of the machine's clock. */
  now(): bigint;
  /** Where records go; null = only hits are counted and no argument is evaluated. */
  sink: TraceSink | null;
  readonly buffer: ArgBuffer;
  /** Records that were longer than a ring buffer event. */
  lost: number;
}

export const traceContext = (now: () => bigint, sink: TraceSink | null): TraceContext => ({
  now,
  sink,
  buffer: new ArgBuffer(),
  lost: 0,
});

/** One definition at one place: a consumer that turns hits into trace records. */
export class TracefsProbe {
  readonly definition: BoundDefinition;
  /** The probed file; its identity tells probes apart. */
  readonly inode: object;
  /** What to register with uprobes at (inode, offset). */
  readonly consumer: Consumer;
  /** As in `uprobe_profile`: counted at entry, for return probes too. */
  hits = 0;
  readonly #layout: ArgLayout;
  readonly #context: TraceContext;

  constructor(definition: BoundDefinition, inode: object, context: TraceContext) {
    this.definition = definition;
    this.inode = inode;
    this.#layout = new ArgLayout(definition.args, definition.kind, definition.offset);
    this.#context = context;
    const count = (): HandlerResult => {
      this.hits++;
      return HandlerResult.Continue;
    };
    this.consumer =
      definition.kind === 'return'
        ? { entry: count, return: (hit) => this.#record(hit) }
        : {
            entry: (hit) => {
              this.#record(hit);
              return count();
            },
          };
  }

  #record(hit: Hit): void {
    const { sink, buffer } = this.#context;
    if (sink === null) return;
    if (!buffer.build(this.#layout, hit)) {
      this.#context.lost++;
      return;
    }
    const { group, event, kind } = this.definition;
    sink.emit({
      timeNs: this.#context.now(),
      tgid: hit.task.tgid,
      tid: hit.task.tid,
      cpu: 0,
      comm: hit.task.comm,
      group,
      event,
      kind,
      via: hit.via,
      ip: kind === 'entry' ? hit.site : hit.regs.read(Reg.Rip),
      func: kind === 'entry' ? null : hit.site,
      args: recordArgs(this.#layout, buffer),
      regs: sink.wantsRegisters ? registersOf(hit.regs) : null,
    });
  }
}
