/** The parts of the WebAssembly JavaScript interface that the core uses; TypeScript has them in its DOM library only. */

/** A compiled module; nothing is done with it but to hand it back. */
export interface WasmModule {
  readonly kind?: 'module';
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** By pages of 64 KiB. */
  grow(pages: number): number;
}

interface WebAssemblyInterface {
  readonly Module: {
    new (bytes: Uint8Array<ArrayBuffer>): WasmModule;
    customSections(module: WasmModule, name: string): ArrayBuffer[];
  };
  readonly Memory: new (limits: { initial: number }) => WasmMemory;
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, unknown>>,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
}

const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: WebAssemblyInterface };

export const compile = (bytes: Uint8Array<ArrayBuffer>): WasmModule => new wasm.Module(bytes);

export const createMemory = (pages: number): WasmMemory => new wasm.Memory({ initial: pages });

/** Data that travels with a module; empty if it has no such section. */
export const customSection = (module: WasmModule, name: string): ArrayBuffer =>
  wasm.Module.customSections(module, name)[0] ?? new ArrayBuffer(0);

/** Exports of a new instance; `imports` are known to it as `e`. */
export const instantiate = (
  module: WasmModule,
  imports: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => new wasm.Instance(module, { e: imports }).exports;
