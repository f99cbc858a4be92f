/** Tier 0 as a WebAssembly module: one handler for each variant that has a row, and a few of its own. */
import type { Form } from '../../../x86/forms.ts';
import type { Row } from '../emit/insn.ts';
import { Tier0 } from '../emit/tier0.ts';
import { CHOICES, type Variant, variantsOf } from '../emit/variant.ts';
import { Exit, HANDLER_TYPE, Import, RECORD } from '../layout.ts';
import { rowOf } from '../rows/index.ts';
import { Body } from '../wasm/body.ts';
import { load } from '../wasm/expr.ts';
import { compile, customSection, type WasmModule } from '../wasm/host.ts';
import { buildModule, type FunctionType, type ImportedFunction } from '../wasm/module.ts';

/** Handlers that belong to no instruction, by their place in the table. */
export const Handler = {
  Resolve: 0,
  Bridge: 1,
  StepEnd: 2,
  InvalidOpcode: 3,
  GeneralProtection: 4,
  Unsupported: 5,
} as const;

const TYPES: readonly FunctionType[] = [
  { parameters: ['i32'], results: ['i32'] },
  { parameters: ['i32', 'i64', 'i32'], results: ['i32'] },
  { parameters: [], results: [] },
  { parameters: ['i32', 'i32'], results: ['i32'] },
];

const IMPORTS: readonly ImportedFunction[] = (
  Object.entries({ slow: 1, commit: 2, host: 3 }) as [keyof typeof Import, number][]
)
  .sort(([a], [b]) => Import[a] - Import[b])
  .map(([name, type]) => ({ name, type }));

/** Names of the custom sections. */
const SECTION = { handlers: 'handlers', routines: 'routines' } as const;

const NO_FORM: Variant = {
  form: { code: 0, name: '', mnemonic: '', operands: [], vex: false, features: [] },
  choice: 0,
  operands: [],
};

const own = (write: (emit: Tier0) => void): number[] => {
  const emit = new Tier0(NO_FORM, () => 0);
  write(emit);
  return emit.finish();
};

const ownHandlers = (): number[][] => [
  own((emit) => emit.exit(Exit.Resolve)),
  own((emit) => emit.bridge()),
  own((emit) => emit.exit(Exit.StepEnd)),
  own((emit) => emit.exit(Exit.InvalidOpcode)),
  own((emit) => emit.exit(Exit.GeneralProtection)),
  own((emit) => emit.exit(Exit.Unsupported)),
];

/** Enters at a record. */
const entry = (): number[] => {
  const body = new Body(['i32']);
  const record = body.parameter(0);
  body.tailCall(HANDLER_TYPE, [record], load.i32(record, RECORD.handler));
  body.unreachable();
  return body.finish();
};

/** Handlers collected: equal ones are kept once. */
class Handlers {
  readonly code: number[][] = ownHandlers();
  readonly routines: string[] = [];
  readonly #known = new Map<string, number>();

  add(code: number[]): number {
    const key = String.fromCharCode(...code);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.code.push(code);
    this.#known.set(key, this.code.length - 1);
    return this.code.length - 1;
  }

  readonly routine = (name: string): number => {
    const known = this.routines.indexOf(name);
    return known >= 0 ? known : this.routines.push(name) - 1;
  };
}

const handlerOf = (variant: Variant, row: Row, { routine }: Handlers): number[] => {
  const emit = new Tier0(variant, routine);
  try {
    row(emit);
    return emit.finish();
  } catch (cause) {
    throw new Error(`row of ${variant.form.name}, choice ${variant.choice}`, { cause });
  }
};

/** Builds the module's bytes from the rows. */
export const buildTier0 = (forms: readonly Form[]): Uint8Array<ArrayBuffer> => {
  const handlers = new Handlers();
  const codes = forms.reduce((most, { code }) => Math.max(most, code), 0) + 1;
  const index = new Uint16Array(codes * CHOICES);
  for (const form of forms) {
    const row = rowOf(form);
    if (row === undefined) continue;
    for (const variant of variantsOf(form)) {
      index[form.code * CHOICES + variant.choice] = handlers.add(handlerOf(variant, row, handlers));
    }
  }
  const functions = handlers.code.map((code) => ({ type: HANDLER_TYPE, code }));
  const run = IMPORTS.length + functions.length;
  functions.push({ type: HANDLER_TYPE, code: entry() });
  return buildModule({
    types: TYPES,
    imports: IMPORTS,
    functions,
    exports: { run },
    custom: {
      [SECTION.handlers]: new Uint8Array(index.buffer),
      [SECTION.routines]: Uint8Array.from(handlers.routines.join(' '), (c) => c.charCodeAt(0)),
    },
  });
};

/** Compiled tier 0 with what the decoder must know of it. All machines share it. */
export interface Tier0Code {
  readonly module: WasmModule;
  /** Handler by form and choice; 0 = the engine lacks it. */
  readonly handlers: Uint16Array;
  /** Host routines by number. */
  readonly routines: readonly string[];
}

export const compileTier0 = (bytes: Uint8Array<ArrayBuffer>): Tier0Code => {
  const module = compile(bytes);
  const routines = new TextDecoder().decode(customSection(module, SECTION.routines));
  return {
    module,
    handlers: new Uint16Array(customSection(module, SECTION.handlers)),
    routines: routines === '' ? [] : routines.split(' '),
  };
};
