import {
  type Capabilities,
  type CpuContext,
  type Engine,
  type EngineSnapshot,
  Reg,
  type RegisterFile,
} from '../../src/cpu/engine.ts';

const PAGE = 4096n;
const TF = 0x100n;

interface FakePage {
  prot: number;
  readonly bytes: Uint8Array;
}

interface FakeSnapshot extends EngineSnapshot {
  readonly pages: ReadonlyMap<bigint, FakePage>;
  readonly regs: readonly bigint[];
  readonly fx: Uint8Array;
}

interface FakeContext extends CpuContext {
  readonly regs: readonly bigint[];
  readonly fx: Uint8Array;
}

class FakeRegisters implements RegisterFile {
  values: bigint[] = Array.from({ length: 20 }, () => 0n);
  fx = new Uint8Array(512);

  read(reg: number): bigint {
    return this.values[reg] as bigint;
  }
  write(reg: number, value: bigint): void {
    this.values[reg] = BigInt.asUintN(64, value);
  }
  get trapFlag(): boolean {
    return (this.read(Reg.Rflags) & TF) !== 0n;
  }

  set trapFlag(on: boolean) {
    const flags = this.read(Reg.Rflags);
    this.write(Reg.Rflags, on ? flags | TF : flags & ~TF);
  }

  readFx(into: Uint8Array): void {
    into.set(this.fx);
  }
  writeFx(image: Uint8Array): void {
    this.fx.set(image);
  }
}

/**
 * Memory and registers of an engine without a CPU. It checks the preconditions of the contract and
 * throws where they are broken, so that layers above are tested for keeping them.
 */
export class FakeEngine implements Engine {
  readonly name = 'fake';
  readonly capabilities: Capabilities = { avx: false, extensions: [], lacks: [], knownWrong: [] };
  readonly regs = new FakeRegisters();
  instructionCount: number = 0;
  #pages = new Map<bigint, FakePage>();
  /** Calls of `map` so far: how many regions a real engine would hold. */
  mapCalls = 0;

  /** Rights of the page that contains `address`, or undefined when it is not mapped. */
  protAt(address: bigint): number | undefined {
    return this.#pages.get(address & ~(PAGE - 1n))?.prot;
  }

  /** Page addresses in order. */
  mappedPages(): bigint[] {
    return [...this.#pages.keys()].sort((a, b) => (a < b ? -1 : 1));
  }

  map(address: bigint, size: bigint, prot: number): void {
    this.mapCalls++;
    for (const page of this.#range(address, size)) {
      if (this.#pages.has(page)) throw new Error(`map: 0x${page.toString(16)} is mapped already`);
      this.#pages.set(page, { prot, bytes: new Uint8Array(4096) });
    }
  }

  unmap(address: bigint, size: bigint): void {
    for (const page of this.#range(address, size)) {
      this.#page(page, 'unmap');
      this.#pages.delete(page);
    }
  }

  protect(address: bigint, size: bigint, prot: number): void {
    for (const page of this.#range(address, size)) this.#page(page, 'protect').prot = prot;
  }

  peek(address: bigint, into: Uint8Array): void {
    this.#pieces(address, into, 'peek', (bytes, at, piece) =>
      piece.set(bytes.subarray(at, at + piece.length)),
    );
  }

  poke(address: bigint, data: Uint8Array): void {
    this.#pieces(address, data, 'poke', (bytes, at, piece) => bytes.set(piece, at));
  }

  run(): void {
    throw new Error('the fake engine has no CPU');
  }

  step(): void {
    throw new Error('the fake engine has no CPU');
  }

  saveContext(): CpuContext {
    const context: FakeContext = {
      engine: this.name,
      regs: [...this.regs.values],
      fx: this.regs.fx.slice(),
    };
    return context;
  }

  loadContext(context: CpuContext): void {
    const { regs, fx } = context as FakeContext;
    this.regs.values = [...regs];
    this.regs.fx = fx.slice();
  }

  capture(): EngineSnapshot {
    const snapshot: FakeSnapshot = {
      engine: this.name,
      pages: copyPages(this.#pages),
      regs: [...this.regs.values],
      fx: this.regs.fx.slice(),
    };
    return snapshot;
  }

  restore(snapshot: EngineSnapshot): void {
    const { pages, regs, fx } = snapshot as FakeSnapshot;
    this.#pages = copyPages(pages);
    this.regs.values = [...regs];
    this.regs.fx = fx.slice();
  }

  dispose(): void {
    this.#pages.clear();
  }

  #page(page: bigint, what: string): FakePage {
    const found = this.#pages.get(page);
    if (found === undefined) throw new Error(`${what}: 0x${page.toString(16)} is not mapped`);
    return found;
  }

  #range(address: bigint, size: bigint): bigint[] {
    if (address % PAGE !== 0n || size % PAGE !== 0n || size <= 0n)
      throw new Error(`not whole pages: 0x${address.toString(16)} + 0x${size.toString(16)}`);
    return Array.from({ length: Number(size / PAGE) }, (_, i) => address + BigInt(i) * PAGE);
  }

  #pieces(
    address: bigint,
    data: Uint8Array,
    what: string,
    use: (page: Uint8Array, at: number, piece: Uint8Array) => void,
  ): void {
    for (let done = 0; done < data.length; ) {
      const now = address + BigInt(done);
      const at = Number(now % PAGE);
      const piece = data.subarray(done, Math.min(data.length, done + 4096 - at));
      use(this.#page(now - BigInt(at), what).bytes, at, piece);
      done += piece.length;
    }
  }
}

const copyPages = (pages: ReadonlyMap<bigint, FakePage>): Map<bigint, FakePage> =>
  new Map([...pages].map(([at, page]) => [at, { prot: page.prot, bytes: page.bytes.slice() }]));
