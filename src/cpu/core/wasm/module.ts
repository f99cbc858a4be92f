import { TYPE_BYTE, type Type, text, unsigned, vector } from './encode.ts';

export interface FunctionType {
  readonly parameters: readonly Type[];
  readonly results: readonly Type[];
}

/** A function handed in under `e`. */
export interface ImportedFunction {
  readonly name: string;
  readonly type: number;
}

export interface ModuleParts {
  readonly types: readonly FunctionType[];
  /** They come first among the functions. */
  readonly imports: readonly ImportedFunction[];
  /** Type and finished body of each own function, all of which stand in table 0 in this order. */
  readonly functions: readonly { readonly type: number; readonly code: readonly number[] }[];
  readonly exports: Readonly<Record<string, number>>;
  /** Custom sections: data that travels with the code. */
  readonly custom: Readonly<Record<string, Uint8Array>>;
}

const functionType = ({ parameters, results }: FunctionType): number[] => [
  0x60,
  ...vector(parameters.map((type) => [TYPE_BYTE[type]])),
  ...vector(results.map((type) => [TYPE_BYTE[type]])),
];

class Writer {
  bytes: Uint8Array = new Uint8Array(1 << 16);
  length = 0;

  put(part: ArrayLike<number>): void {
    const end = this.length + part.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes.set(part, this.length);
    this.length = end;
  }

  section(id: number, parts: readonly ArrayLike<number>[]): void {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    this.put([id, ...unsigned(size)]);
    for (const part of parts) this.put(part);
  }
}

/** A module that imports its memory as `e.m`. Sections in the order the format wants them. */
export const buildModule = (parts: ModuleParts): Uint8Array<ArrayBuffer> => {
  const { types, imports, functions, exports, custom } = parts;
  const out = new Writer();
  out.put([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  out.section(1, [vector(types.map(functionType))]);
  const memory = [...text('e'), ...text('m'), 2, 0, 1];
  const functionImports = imports.map(({ name, type }) => [
    ...text('e'),
    ...text(name),
    0,
    ...unsigned(type),
  ]);
  out.section(2, [vector([memory, ...functionImports])]);
  out.section(3, [vector(functions.map(({ type }) => unsigned(type)))]);
  const count = unsigned(functions.length);
  out.section(4, [[1, 0x70, 0, ...count]]);
  out.section(7, [
    vector(Object.entries(exports).map(([name, index]) => [...text(name), 0, ...unsigned(index)])),
  ]);
  const all = functions.map((_, index) => unsigned(imports.length + index));
  out.section(9, [[1, 0, 0x41, 0, 0x0b], vector(all)]);
  out.section(10, [count, ...functions.map(({ code }) => code)]);
  for (const [name, data] of Object.entries(custom)) out.section(0, [text(name), data]);
  return out.bytes.slice(0, out.length);
};
