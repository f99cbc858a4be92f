import { At } from '../abi/auxv.ts';
import { pageDown, view } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';
import { Prot } from '../cpu/engine.ts';
import { type AddressSpace, TASK_SIZE } from '../memory/address-space.ts';
import { type AuxEntry, auxvBytes } from './auxv.ts';
import { badElf } from './reader.ts';

/** execve leaves this much room below the strings before the stack must grow (setup_arg_pages). */
const STACK_EXPAND = 128n << 10n;

/** bprm_stack_limits: strings and pointers take a quarter of the stack limit; one string MAX_ARG_STRLEN. */
const STRINGS_LIMIT = 2 << 20;
const STRING_LIMIT = 128 << 10;

export interface FirstStackContents {
  /** The program's file, for messages. */
  readonly path: string;
  /** Bytes of the strings, without NUL. */
  readonly argv: readonly Uint8Array[];
  readonly env: readonly Uint8Array[];
  /** AT_EXECFN. */
  readonly execFn: Uint8Array;
  /** AT_PLATFORM. */
  readonly platform: string;
  /** The 16 bytes of AT_RANDOM. */
  readonly random: Uint8Array;
  readonly executable: boolean;
  /** The vector; values of AT_RANDOM, AT_EXECFN and AT_PLATFORM are filled in here. */
  readonly auxv: readonly AuxEntry[];
}

export interface FirstStack {
  readonly sp: bigint;
  /** The auxiliary vector as it lies on the stack. */
  readonly auxv: Uint8Array;
}

/** Maps the stack and lays out what _start finds on it (copy_strings, create_elf_tables). */
export const buildFirstStack = (space: AddressSpace, contents: FirstStackContents): FirstStack => {
  const strings = placeStrings(contents);
  mapStack(space, strings.low, contents);
  const aligned = strings.low & ~15n;
  const platformAt = aligned - BigInt(contents.platform.length + 1);
  const randomAt = platformAt - 16n;
  const fill = new Map([
    [At.PLATFORM as number, platformAt],
    [At.RANDOM as number, randomAt],
    [At.EXECFN as number, strings.execFn],
  ]);
  const auxv = auxvBytes(contents.auxv.map(([type, value]) => [type, fill.get(type) ?? value]));
  const pointers = [BigInt(contents.argv.length), ...strings.argv, 0n, ...strings.env, 0n];
  const sp = ((randomAt & ~15n) - BigInt(auxv.length + 8 * pointers.length)) & ~15n;
  space.write(platformAt, latin1(contents.platform));
  space.write(randomAt, contents.random);
  space.write(sp, words(pointers));
  space.write(sp + BigInt(8 * pointers.length), auxv);
  for (const [at, bytes] of strings.pieces) space.write(at, bytes);
  return { sp, auxv };
};

interface PlacedStrings {
  readonly low: bigint;
  readonly execFn: bigint;
  readonly argv: readonly bigint[];
  readonly env: readonly bigint[];
  readonly pieces: readonly (readonly [bigint, Uint8Array])[];
}

/** From the top down: 8 zero bytes, the file name, the environment, the arguments. */
const placeStrings = ({ argv, env, execFn }: FirstStackContents): PlacedStrings => {
  const all = [...argv, ...env];
  const total = all.reduce((sum, text) => sum + text.length + 9, execFn.length + 1);
  if (total > STRINGS_LIMIT || all.some((text) => text.length >= STRING_LIMIT))
    throw new TraplineError('bad-option', 'arguments and environment are too long', {
      errno: 'E2BIG',
    });
  const pieces: [bigint, Uint8Array][] = [];
  let low = TASK_SIZE - 8n;
  const place = (bytes: Uint8Array): bigint => {
    low -= BigInt(bytes.length + 1);
    pieces.push([low, bytes]);
    return low;
  };
  const execFnAt = place(execFn);
  const envAt = env.toReversed().map(place).reverse();
  const argvAt = argv.toReversed().map(place).reverse();
  return { low, execFn: execFnAt, argv: argvAt, env: envAt, pieces };
};

const mapStack = (
  space: AddressSpace,
  low: bigint,
  { path, executable }: FirstStackContents,
): void => {
  const start = pageDown(low) - STACK_EXPAND;
  const result = space.map({
    address: start,
    placement: 'only',
    size: TASK_SIZE - start,
    prot: Prot.Read | Prot.Write | (executable ? Prot.Exec : 0),
    growsDown: true,
    label: '[stack]',
  });
  if (typeof result === 'string')
    throw badElf(path, `its segments leave no room for the first stack (${result})`);
};

const latin1 = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

const words = (values: readonly bigint[]): Uint8Array => {
  const bytes = new Uint8Array(8 * values.length);
  const into = view(bytes);
  values.forEach((value, i) => {
    into.setBigUint64(8 * i, value, true);
  });
  return bytes;
};
