/** Takes a JSON document apart; what does not fit its form is named by its place. */
import { fromHex } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';

const FORMS = 'a table is in the form of insn-exec.json, insn-table.json or accept-sweep.json';

/** The error for a table that is not in any of the three forms. */
export const badTable = (what: string): TraplineError =>
  new TraplineError('bad-table', what, { hint: FORMS });

/** A short word for a value: arrays and objects may be nested deeper than can be printed. */
const shown = (value: unknown): string => {
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'an array' : 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
};

/** A value with its place in the document. */
export class Field {
  readonly value: unknown;
  readonly place: string;

  constructor(value: unknown, place: string) {
    this.value = value;
    this.place = place;
  }

  fail(expected: string): never {
    throw badTable(`${this.place}: ${expected} is expected, not ${shown(this.value)}`);
  }

  get present(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** A member; absent ones have the value undefined. */
  at(name: string): Field {
    if (!this.isObject()) this.fail('an object');
    return new Field((this.value as Record<string, unknown>)[name], `${this.place}.${name}`);
  }

  isObject(): boolean {
    return typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value);
  }

  /** The members of an object, in its order. */
  members(): [string, Field][] {
    if (!this.isObject()) this.fail('an object');
    return Object.keys(this.value as object).map((name) => [name, this.at(name)]);
  }

  items(): Field[] {
    if (!Array.isArray(this.value)) this.fail('an array');
    return this.value.map((item, index) => new Field(item, `${this.place}[${index}]`));
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.fail('a string');
  }

  flag(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('true or false');
  }

  integer(): number {
    return Number.isSafeInteger(this.value) ? (this.value as number) : this.fail('a whole number');
  }

  /** `0x…`, 64 bits at most. */
  word(): string {
    const text = this.text();
    return /^0x[0-9a-f]{1,16}$/i.test(text)
      ? text.toLowerCase()
      : this.fail('a number of up to 64 bits as 0x…');
  }

  /** Bytes as hex; `size` = how many, where it is fixed. */
  hex(size?: number): string {
    const bytes = fromHex(this.text());
    if (bytes === undefined) this.fail('bytes in hex');
    if (size !== undefined && bytes.length !== size) this.fail(`${size} bytes in hex`);
    return this.text().toLowerCase();
  }

  oneOf<T extends string>(...words: readonly T[]): T {
    const found = words.find((word) => word === this.value);
    return found ?? this.fail(words.map((word) => `"${word}"`).join(' or '));
  }

  /** Null where the value is null or absent. */
  orNull<T>(read: (field: Field) => T): T | null {
    return this.present ? read(this) : null;
  }
}
