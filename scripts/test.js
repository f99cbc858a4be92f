// `npm test`: says what is missing, builds what tests need, runs vitest. CI=true makes a missing tool an error.
import { spawnSync } from 'node:child_process';
import { requirements } from './requirements.js';

const missing = Object.entries(requirements).filter(([, need]) => !need.present());
for (const [name, need] of missing)
  console.error(`test: ${name} is missing (${need.why}); apt install ${need.apt}`);
if (process.env.CI === 'true' && missing.some(([, need]) => !need.optional)) process.exit(1);

const step = (command, args) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
step('npm', ['run', '--silent', 'typecheck']);
step('npm', ['run', '--silent', 'lint']);
step('npm', ['run', '--silent', 'build']);
step('npx', ['vitest', 'run', ...process.argv.slice(2)]);
