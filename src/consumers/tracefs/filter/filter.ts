/** Filters of events: `FIELD OP VALUE` joined by `&&`, `||`, `!` and brackets. */
import type { ProbeEvent } from '../../event/event.ts';
import type { EventRecord } from '../../event/event-record.ts';
import { COMMON_FIELDS, fieldsOf } from '../../event/fields.ts';
import { checkBrackets } from './brackets.ts';
import { FilterFault } from './fault.ts';
import { type FilterField, type Predicate, readTerm } from './predicate.ts';

/** Names that stand for no bytes of the record. */
const GENERIC: Readonly<Record<string, FilterField>> = {
  CPU: { kind: 'cpu' },
  cpu: { kind: 'cpu' },
  common_cpu: { kind: 'cpu' },
  COMM: { kind: 'comm' },
  comm: { kind: 'comm' },
  STACKTRACE: { kind: 'stack' },
  stacktrace: { kind: 'stack' },
};

const fieldFinder = (event: ProbeEvent): ((name: string) => FilterField | undefined) => {
  const fields = [...fieldsOf(event), ...COMMON_FIELDS];
  return (name) => {
    const field = fields.find((one) => one.name === name);
    if (field !== undefined)
      return field.text ? { kind: 'text', field } : { kind: 'number', field };
    return Object.hasOwn(GENERIC, name) ? GENERIC[name] : undefined;
  };
};

const either =
  (a: Predicate, b: Predicate): Predicate =>
  (record) =>
    a(record) || b(record);
const both =
  (a: Predicate, b: Predicate): Predicate =>
  (record) =>
    a(record) && b(record);
const not =
  (a: Predicate): Predicate =>
  (record) =>
    !a(record);

/** `&&` binds closer than `||`. An operator with nothing behind it at the very end counts for nothing. */
class FilterReader {
  readonly #text: string;
  readonly #find: (name: string) => FilterField | undefined;
  #at = 0;

  constructor(text: string, event: ProbeEvent) {
    this.#text = text;
    this.#find = fieldFinder(event);
  }

  read(): Predicate {
    // Nothing but brackets has an errno of its own.
    if (/^[\s()]*$/.test(this.#text)) throw new FilterFault(null, 0);
    const whole = this.#alternatives();
    if (whole === undefined) throw new FilterFault('NO_FILTER', this.#at);
    if (this.#at < this.#text.length) throw new FilterFault('TOO_MANY_PREDS', this.#at, 'EPERM');
    return whole;
  }

  #alternatives(): Predicate | undefined {
    let left = this.#conjunction();
    while (left !== undefined && this.#skip('||')) {
      const right = this.#conjunction();
      if (right !== undefined) left = either(left, right);
    }
    return left;
  }

  #conjunction(): Predicate | undefined {
    let left = this.#operand();
    while (left !== undefined && this.#skip('&&')) {
      const right = this.#operand();
      if (right !== undefined) left = both(left, right);
    }
    return left;
  }

  /** Undefined at the end of the text. */
  #operand(): Predicate | undefined {
    this.#blanks();
    if (this.#at >= this.#text.length) return undefined;
    if (/^!(?![=~])/.test(this.#text.slice(this.#at, this.#at + 2))) {
      this.#at++;
      const inner = this.#operand();
      return inner && not(inner);
    }
    return this.#skip('(') ? this.#bracket() : this.#term();
  }

  #bracket(): Predicate {
    const inner = this.#alternatives();
    if (inner === undefined) throw new FilterFault(null, 0, 'EPERM');
    if (!this.#skip(')')) throw new FilterFault('TOO_MANY_PREDS', this.#at, 'EPERM');
    return inner;
  }

  #term(): Predicate {
    const { predicate, end } = readTerm(this.#text, this.#at, this.#find);
    this.#at = end;
    this.#blanks();
    return predicate;
  }

  #skip(word: string): boolean {
    this.#blanks();
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    this.#blanks();
    return true;
  }

  #blanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }
}

/** A filter of one event. */
export class Filter {
  /** As written. */
  readonly text: string;
  readonly #predicate: Predicate;

  private constructor(text: string, predicate: Predicate) {
    this.text = text;
    this.#predicate = predicate;
  }

  /** Throws a {@link FilterFault}. */
  static parse(text: string, event: ProbeEvent): Filter {
    checkBrackets(text);
    return new Filter(text, new FilterReader(text, event).read());
  }

  accepts(record: EventRecord): boolean {
    return this.#predicate(record);
  }
}
