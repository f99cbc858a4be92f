/** The part of the package that does not ask for a bundler; it ships no types of its own for it. */
declare module 'gecko-profiler-demangle/index_bg.js' {
  export function __wbg_set_wasm(exports: unknown): void;
  export function demangle_any(name: string): string;
}

/** What we use of it: TypeScript has its types only together with the browser's. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Readonly<Record<string, object>>,
  ): Promise<{ readonly instance: { readonly exports: unknown } }>;
};
