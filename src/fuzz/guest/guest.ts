/** A bare process: text from a file, data, a stack. It lives on from case to case. */
import { Frame } from '../../abi/sigframe.ts';
import { SiCode, Sig } from '../../abi/signals.ts';
import { view } from '../../base/bytes.ts';
import { type Engine, FX_IMAGE_SIZE, Prot, Reg } from '../../cpu/engine.ts';
import { catchSignals, createBareProcess, readFrame } from '../../kernel/bare-guest.ts';
import { Kernel } from '../../kernel/kernel.ts';
import type { Mm } from '../../kernel/mm.ts';
import { RUNNING, type Task } from '../../kernel/task.ts';
import { type Profile, Uprobes } from '../../uprobes/index.ts';
import type { FuzzCase, RegisterName } from '../case.ts';
import {
  CAPS,
  CAUGHT,
  DATA,
  END,
  FAR_TEXT,
  memoryOf,
  PAGE,
  REGISTERS,
  RESTORER,
  RETURNING,
  SIGNAL_STACK,
  STACK,
  TEXT,
  USUAL_FLAGS,
  usualRegisters,
} from './layout.ts';
import type { Outcome, SignalFacts } from './outcome.ts';
import { GUEST_SYSCALLS } from './syscalls.ts';
import { TextFile } from './text-file.ts';

/** More than any case needs: the rest runs away. */
const INSTRUCTIONS = 2000;
const TRAPS = 600;

/** Signals whose handler returns; all others end the call. */
const RETURNING_SIGNALS: ReadonlySet<number> = new Set([Sig.SIGUSR1, Sig.SIGUSR2]);

const cleanFx = (): Uint8Array => {
  const image = new Uint8Array(FX_IMAGE_SIZE);
  view(image).setUint16(0, 0x37f, true);
  view(image).setUint32(24, 0x1f80, true);
  for (let i = 160; i < 416; i++) image[i] = (7 * i + 1) & 0xff;
  return image;
};
const CLEAN_FX = cleanFx();

/** Who looks on while the function runs, before uprobes does. */
export interface Watcher {
  /** Registers are set; the function is about to run. */
  starting?(task: Task): void;
  /** A breakpoint at `at`; true = it was the watcher's. */
  breakpoint(task: Task, at: bigint): boolean;
  debugTrap(task: Task): boolean;
  faultSignal(task: Task): void;
  /** The function has returned to its caller. */
  returned(task: Task): void;
}

export class Guest {
  watcher: Watcher | null = null;
  readonly kernel: Kernel;
  readonly uprobes: Uprobes;
  readonly file = new TextFile();
  readonly mm: Mm;
  readonly task: Task;
  #ended: 'returned' | 'signal' | null = null;
  /** Extent of the code in the text, so that the next load clears it. */
  #loaded = { from: 0, to: 0 };
  readonly #texts: bigint[] = [TEXT.start];
  #code = '';
  #at = -1;
  #vector = false;

  /** @param engine nothing is mapped on it */
  constructor(engine: Engine, profile: Profile) {
    this.kernel = new Kernel({
      createEngine: () => engine,
      syscalls: GUEST_SYSCALLS,
    });
    // Before uprobes, so that the ends of calls are nobody else's breakpoints.
    this.kernel.subscribe({
      breakpoint: (task) => this.#breakpoint(task),
      debugTrap: (task) => this.watcher?.debugTrap(task) ?? false,
      faultSignal: (task) => this.watcher?.faultSignal(task),
    });
    this.uprobes = new Uprobes(this.kernel, profile);
    this.mm = this.kernel.createMm();
    this.#mapAll();
    this.task = createBareProcess(this.kernel, this.mm, {
      exe: this.file,
      comm: 'fuzz',
      entry: END,
      brkStart: 0x800000n,
    });
    this.task.regs.writeFx(CLEAN_FX);
    catchSignals(this.task, RESTORER, (signal) =>
      RETURNING_SIGNALS.has(signal) ? RETURNING : CAUGHT,
    );
  }

  /** Puts the code of a case into the file and the text. Preconditions: no probe is attached. */
  load({ code, at }: Pick<FuzzCase, 'code' | 'at'>, vector: boolean): void {
    this.#vector = vector;
    if (this.#code === code && this.#at === at) return;
    const bytes = Buffer.from(code, 'hex');
    const { file } = this;
    const { from, to } = this.#loaded;
    file.bytes.fill(0xcc, from, to);
    file.bytes.set(bytes, at);
    this.#loaded = { from: at, to: at + bytes.length };
    this.#code = code;
    this.#at = at;
    this.restoreText(Math.min(from, at), Math.max(to, at + bytes.length));
  }

  /** The text is the file's again, whatever uprobes left in it. */
  restoreText(from = this.#loaded.from, to = this.#loaded.to): void {
    const { mm, file } = this;
    for (const start of this.#texts) {
      mm.engine.poke(start + BigInt(from), file.bytes.subarray(from, to));
      for (let page = 0; page < TEXT.pages; page++)
        mm.space.dropIfPristine(start + BigInt(page * PAGE));
    }
  }

  /** Calls the function once. */
  call(test: FuzzCase, text: bigint = TEXT.start): Outcome {
    this.#prepare(test, text);
    this.#ended = null;
    this.watcher?.starting?.(this.task);
    const end = this.kernel.runSlice({ instructions: INSTRUCTIONS, traps: TRAPS });
    const lacking = end.kind === 'unsupported' ? end.text : '';
    const ended = this.#ended as 'returned' | 'signal' | null;
    if (ended === 'signal') return this.#caught();
    return {
      end: ended ?? (end.kind === 'unsupported' ? 'unsupported' : 'lost'),
      text: lacking,
      regs: this.#registers(),
      signal: null,
      memory: this.#memory(),
      fx: this.#fx(),
    };
  }

  /** What the file's reader gives is what was put there. */
  fileIsIntact(): boolean {
    const { from, to } = this.#loaded;
    const bytes = new Uint8Array(to - from);
    this.file.read(BigInt(from), bytes);
    return Buffer.compare(bytes, this.file.bytes.subarray(from, to)) === 0;
  }

  /** Address of the `[uprobes]` page, once there is one. */
  areaAddress(): bigint | null {
    const area = this.mm.space.vmas().find(({ special }) => special?.name === '[uprobes]');
    return area?.start ?? null;
  }

  /** Drops what a case may have left with the task: pending returns, a step that never ended. */
  forget(): void {
    this.kernel.hooks.exit(this.task);
  }

  /** As kill(2) from another process. */
  sendSignal(signal: number): void {
    this.kernel.sendSignal(this.task, { signal, code: SiCode.SI_USER });
  }

  /** Gives the engine back with nothing mapped on it; the guest is unusable afterwards. */
  release(): Engine {
    const { space, engine } = this.mm;
    for (const { start, end } of space.vmas()) space.unmap(start, end - start);
    return engine;
  }

  #prepare({ at, regs, seed }: FuzzCase, text: bigint): void {
    const { task, mm } = this;
    task.state = RUNNING;
    task.notifyResume = false;
    task.blocked = 0n;
    task.savedBlocked = null;
    task.trapNumber = 0n;
    task.errorCode = 0n;
    task.cr2 = 0n;
    task.syscall = -1;
    task.pending.restore([]);
    Object.assign(task.altStack, {
      sp: SIGNAL_STACK.start,
      size: BigInt(SIGNAL_STACK.pages * PAGE),
      flags: 0,
    });
    const memory = memoryOf(seed);
    mm.engine.poke(DATA.start, memory.subarray(0, DATA.pages * PAGE));
    mm.engine.poke(STACK.start, memory.subarray(DATA.pages * PAGE));
    const values = usualRegisters();
    for (const [name, value] of Object.entries(regs))
      if (name !== 'flags') values[REGISTERS[name as RegisterName]] = BigInt(value);
    for (let reg = 0; reg < values.length; reg++) task.regs.write(reg as Reg, values[reg] ?? 0n);
    task.regs.write(Reg.FsBase, SIGNAL_STACK.start);
    task.regs.write(Reg.GsBase, SIGNAL_STACK.start);
    task.regs.write(Reg.Rflags, regs.flags === undefined ? USUAL_FLAGS : BigInt(regs.flags));
    task.regs.write(Reg.Rip, text + BigInt(at));
    if (this.#vector) task.regs.writeFx(CLEAN_FX);
  }

  #registers(): BigUint64Array {
    const { regs } = this.task;
    const values = new BigUint64Array(17);
    for (let reg = 0; reg < 16; reg++) values[reg] = regs.read(reg as Reg);
    values[16] = regs.read(Reg.Rflags);
    return values;
  }

  #fx(): Uint8Array | null {
    if (!this.#vector) return null;
    const image = new Uint8Array(FX_IMAGE_SIZE);
    this.task.regs.readFx(image);
    return image;
  }

  #memory(): Uint8Array {
    const bytes = new Uint8Array((DATA.pages + STACK.pages) * PAGE);
    this.mm.engine.peek(DATA.start, bytes.subarray(0, DATA.pages * PAGE));
    this.mm.engine.peek(STACK.start, bytes.subarray(DATA.pages * PAGE));
    return bytes;
  }

  /** The state that the signal frame holds. */
  #caught(): Outcome {
    const frame = new Uint8Array(Frame.size);
    this.mm.engine.peek(this.task.regs.read(Reg.Rsp), frame);
    const { word, ...info } = readFrame(frame);
    const regs = new BigUint64Array(17);
    for (const [name, reg] of Object.entries(REGISTERS)) regs[reg] = word(name as RegisterName);
    regs[16] = word('flags');
    const signal: SignalFacts = {
      ...info,
      ip: word('ip'),
      trapNumber: word('trapno'),
      error: word('err'),
    };
    return { end: 'signal', text: '', regs, signal, memory: this.#memory(), fx: this.#fx() };
  }

  #breakpoint(task: Task): boolean {
    const at = task.regs.read(Reg.Rip) - 1n;
    if (at === END) this.#returned(task);
    else if (at === CAUGHT) this.#ended = 'signal';
    else return this.watcher?.breakpoint(task, at) ?? false;
    task.state = { kind: 'stopped', signal: 0 };
    return true;
  }

  #returned(task: Task): void {
    task.regs.write(Reg.Rip, END);
    this.watcher?.returned(task);
    this.#ended = 'returned';
  }

  /** Maps the text a second time. */
  mapFar(): void {
    if (this.#texts.length > 1) return;
    this.#texts.push(FAR_TEXT.start);
    this.#map(FAR_TEXT, Prot.Read | Prot.Exec, this.file);
  }

  #map(place: { start: bigint; pages: number }, prot: number, file?: TextFile): void {
    const { space } = this.mm;
    const size = BigInt(place.pages * PAGE);
    const request = { address: place.start, placement: 'only' as const, size, prot };
    space.map(file === undefined ? request : { ...request, file });
    // Every page exists from the start: a case's first access must not differ from its second.
    for (let page = 0; page < place.pages; page++)
      space.readForced(place.start + BigInt(page * PAGE), new Uint8Array(1));
  }

  #mapAll(): void {
    const { engine } = this.mm;
    this.#map(TEXT, Prot.Read | Prot.Exec, this.file);
    for (const place of [DATA, STACK, SIGNAL_STACK]) this.#map(place, Prot.Read | Prot.Write);
    this.#map(CAPS, Prot.Read | Prot.Exec);
    for (const cap of [END, CAUGHT]) engine.poke(cap, Uint8Array.of(0xcc));
    engine.poke(RETURNING, Uint8Array.of(0xc3));
    engine.poke(RESTORER, Uint8Array.of(0xb8, 15, 0, 0, 0, 0x0f, 0x05));
  }
}
