import type { Corpus } from './corpus.ts';
import { keyOf } from './finding.ts';

/** Adds what others have kept to `into`; counts what was new there. */
export const mergeCorpora = (
  into: Corpus,
  from: readonly Corpus[],
): { readonly cases: number; readonly findings: number } => {
  const cases = into.cases();
  const findings = new Set(into.findings().map(keyOf));
  const before = { cases: cases.size, findings: findings.size };
  for (const other of from) {
    for (const [key, test] of other.cases()) {
      if (cases.has(key)) continue;
      cases.set(key, test);
      into.keep(key, test);
    }
    for (const finding of other.findings()) {
      if (findings.has(keyOf(finding))) continue;
      findings.add(keyOf(finding));
      into.keepFinding(finding);
    }
  }
  return { cases: cases.size - before.cases, findings: findings.size - before.findings };
};
