// Vitest reporter: how many tests ran on each engine, and what did not run and why.
// A test belongs to an engine when a title on its path is `engine NAME`.

const engineOf = (test) => {
  for (let node = test; node; node = node.parent) {
    const match = /^engine (\S+)$/.exec(node.name ?? '');
    if (match) return match[1];
  }
  return 'no engine';
};

export default class ClosingLines {
  onTestRunEnd(modules) {
    const counts = new Map();
    const notRun = new Map();
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const module of modules)
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'skipped') {
          skipped++;
          const note = result.note ?? 'no reason given';
          notRun.set(note, [...(notRun.get(note) ?? []), test.fullName]);
          continue;
        }
        if (result.state === 'passed') passed++;
        else failed++;
        const engine = engineOf(test);
        counts.set(engine, (counts.get(engine) ?? 0) + 1);
      }
    console.log('\nTests run:');
    for (const [engine, count] of [...counts].sort()) console.log(`  ${engine}: ${count}`);
    if (notRun.size === 0) console.log('Not run: none');
    for (const [note, names] of notRun) {
      console.log(`Not run (${names.length}), ${note}:`);
      for (const name of names) console.log(`  ${name}`);
    }
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}
