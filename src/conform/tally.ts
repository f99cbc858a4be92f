import type { CaseResult } from './difference.ts';

/** Counts cases: those that agree, those that ran, those that did not and why. */
export class Tally {
  agreed = 0;
  ran = 0;
  notRun = 0;
  /** Cases without any run, by reason. */
  readonly reasons = new Map<string, number>();
  /** Runs that are missing of cases of which others were made, by reason. */
  readonly partial = new Map<string, number>();

  add({ compared, differences, notRun }: CaseResult): void {
    if (compared === 0) {
      this.notRun++;
      const reason = notRun[0]?.reason ?? 'nothing was recorded';
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
      return;
    }
    this.ran++;
    if (differences.length === 0) this.agreed++;
    for (const { reason } of notRun) this.partial.set(reason, (this.partial.get(reason) ?? 0) + 1);
  }

  /** All that ran agree, and something ran. */
  get passed(): boolean {
    return this.ran > 0 && this.agreed === this.ran;
  }

  /** `AGREE n/m[, k not run (reason: count …)]` */
  text(): string {
    const head = `AGREE ${this.agreed}/${this.ran}`;
    return this.notRun === 0 ? head : `${head}, ${this.notRun} not run (${counts(this.reasons)})`;
  }
}

/** Most frequent first. */
export const counts = (reasons: ReadonlyMap<string, number>): string =>
  [...reasons]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason}: ${count}`)
    .join(', ');
