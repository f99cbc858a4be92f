// npm run verify:kernel: every case of fixtures/cases through `trapline verify`, on this machine's kernel.
//   npm run verify:kernel -- [--engine NAME] [CASE…]    only these
//
// The cases name their files below /trapline, so the checkout is bound there in a mount namespace of
// our own; outside of it nothing is to be seen.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
const GUEST_ROOT = '/trapline';

/** Cases that cannot be run, and why; test/golden/beyond.ts has the same for the goldens. */
const BEYOND = { 'lives-fork': 'one task for now: fork is ENOSYS' };
const BEYOND_UNICORN = {
  floatfaults: 'Unicorn never raises unmasked SSE exceptions',
  'floatfaults-plain': 'Unicorn never raises unmasked SSE exceptions',
};
const beyond = (name, engine) =>
  BEYOND[name] ?? (engine === 'core' ? null : (BEYOND_UNICORN[name] ?? null));

/** The escapes of cases: \n \t \r \\ \xHH. */
const unescaped = (text) =>
  Buffer.from(
    text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex, letter) =>
      hex === undefined
        ? ({ n: '\n', t: '\t', r: '\r' }[letter] ?? letter)
        : String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    'latin1',
  );

/** A file of fixtures/cases as words for the command line. */
const commandOf = (text) => {
  const options = [];
  const args = [];
  let program = '';
  let input = Buffer.alloc(0);
  for (const line of text.split('\n').map((one) => one.trimEnd())) {
    const [key = '', value = ''] = [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)];
    if (/^[pr](:|$)/.test(key) || /^[pr]\d*:/.test(key)) options.push('-p', line);
    else if (key === 'program') program = join(GUEST_ROOT, value);
    else if (key === 'arg') args.push(value);
    else if (key === 'env') options.push('--env', value);
    else if (key === 'stdin') input = unescaped(value);
  }
  return { words: [...options, '--', program, ...args], program, input };
};

const runCase = (file, engine) => {
  const name = file.slice(0, -'.case'.length);
  const { words, program, input } = commandOf(
    readFileSync(join(CHECKOUT, 'fixtures/cases', file), 'utf8'),
  );
  const reason =
    beyond(name, engine) ?? (existsSync(program) ? null : 'not built: make -C fixtures libc');
  if (reason !== null) {
    console.log(`${name}: not run (${reason})`);
    return 'not run';
  }
  const main = join(CHECKOUT, 'dist/cli/main.js');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, 'verify', '--engine', engine, ...words],
    {
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  console.log(`${name}: ${status === 0 ? 'equal' : `status ${status}`}`);
  if (status !== 0) console.log(stdout + stderr);
  return status === 0 ? 'equal' : 'different';
};

const inside = (wanted, engine) => {
  const files = readdirSync(join(CHECKOUT, 'fixtures/cases')).sort();
  const chosen = files.filter((file) => wanted.length === 0 || wanted.includes(file.slice(0, -5)));
  const results = chosen.map((file) => runCase(file, engine));
  const count = (result) => results.filter((one) => one === result).length;
  console.log(
    `${count('equal')} equal, ${count('different')} different, ${count('not run')} not run`,
  );
  process.exitCode = count('different') > 0 || count('equal') === 0 ? 1 : 0;
};

const outside = async (args) => {
  const { whyNotHere } = await import('../dist/host/node/verify/index.js');
  const reason = whyNotHere();
  if (reason !== null) {
    console.error(`verify:kernel cannot run here: ${reason}`);
    process.exitCode = 125;
    return;
  }
  const made = !existsSync(GUEST_ROOT);
  if (made) mkdirSync(GUEST_ROOT);
  const script = `mount --bind "$0" ${GUEST_ROOT} && exec "$@"`;
  const words = [CHECKOUT, process.execPath, fileURLToPath(import.meta.url), 'inside', ...args];
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', script, ...words], {
    stdio: 'inherit',
  });
  if (made) rmdirSync(GUEST_ROOT);
  process.exitCode = status ?? 1;
};

const [first, ...rest] = process.argv.slice(2);
if (first === 'inside') {
  const { values, positionals } = parseArgs({
    args: rest,
    options: { engine: { type: 'string', default: 'unicorn' } },
    allowPositionals: true,
  });
  inside(positionals, values.engine);
} else await outside(process.argv.slice(2));
