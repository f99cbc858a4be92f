// `npm run fuzz:faults [-- ENGINE [FAULT…]]`: plants each fault in turn and lets the fuzzer look for it from nothing.
// A fault is caught when a finding goes away with it. Seconds are those of one CPU, so that a busy machine does not count.
import { Runner } from '../dist/fuzz/run/runner.js';
import { Worker } from '../dist/fuzz/search/batch.js';
import { loadEngine } from '../dist/host/node/index.js';
import { PROFILE_NAMES } from '../dist/index.js';
import { FAULT_NAMES } from '../dist/uprobes/testing.js';

const [engine = 'unicorn', ...wanted] = process.argv.slice(2);
/** Two CPUs for 120 seconds. */
const LIMIT = 240;
const BATCH = 100;
const SAMPLE = 24;
/** Instructions of a case that a person can read. */
const READABLE = 6;

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const hunt = (factory, clean, fault, seed) => {
  const worker = new Worker(factory, { fault });
  const start = cpuSeconds();
  const corpus = [];
  let cases = 0;
  for (let stream = 0; cpuSeconds() - start < LIMIT; stream++) {
    const sample = corpus.slice(-SAMPLE);
    const result = worker.run({
      seed,
      stream,
      cases: BATCH,
      profiles: PROFILE_NAMES,
      corpus: sample,
      known: [],
    });
    cases += result.cases;
    corpus.push(...result.covered.map((one) => one.case));
    const finding = result.findings.find(
      (one) => one.instructions.length <= READABLE && clean.run(one.case).kind === 'same',
    );
    if (finding === undefined) continue;
    worker.dispose();
    return { finding, cases, seconds: cpuSeconds() - start };
  }
  worker.dispose();
  return { finding: null, cases, seconds: cpuSeconds() - start };
};

const factory = await loadEngine(engine);
const clean = new Runner({ factory });
let missed = 0;
for (const fault of wanted.length > 0 ? wanted : FAULT_NAMES) {
  const { finding, cases, seconds } = hunt(factory, clean, fault, 1);
  if (finding === null) missed++;
  const what =
    finding === null
      ? 'MISSED'
      : `${finding.instructions.length} instructions (${finding.instructions.join('; ')}): ${finding.title}`;
  console.log(
    `${fault.padEnd(26)} ${String(cases).padStart(7)} cases ${seconds.toFixed(1).padStart(6)} s  ${what}`,
  );
}
console.log(`${missed} missed`);
process.exitCode = missed === 0 ? 0 : 1;
