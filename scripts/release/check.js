// Builds a release and a previous one, and tests both as a user would install them.
// Usage: npm run test:release [-- --reuse]; --reuse tests the files that an earlier run built.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { getuid } from 'node:process';
import { run } from './run.js';

const CLI = 'scripts/release/cli.js';
const MACHINE = 'release/machine';
const TESTS = 'dist-test/release/machine';
const BEFORE = '0.0.1';

/**
 * Installs a minimal Debian for test/release/machine. Without this Debian, the tests that need it are skipped, and
 * the reason is printed.
 */
function makeMachine() {
  if (existsSync(`${MACHINE}/usr/bin/dpkg`) || getuid() !== 0) return;
  mkdirSync('release', { recursive: true });
  try {
    run('debootstrap', ['--variant=minbase', 'bookworm', MACHINE]);
  } catch ({ message }) {
    console.error(message);
    rmSync(MACHINE, { recursive: true, force: true });
  }
}

/** Runs test files. FORBID_PENDING in `env` decides whether a skipped test is a failure. */
function test(files, env = process.env) {
  const paths = files.map((file) => `${TESTS}/${file}.test.js`);
  const { status } = spawnSync(process.execPath, ['scripts/test.js', ...paths], {
    stdio: 'inherit',
    env,
  });
  if (status !== 0) process.exitCode = 1;
}

if (!process.argv.includes('--reuse')) {
  process.stdout.write(run(process.execPath, [CLI]));
  run(process.execPath, [CLI, '--version', BEFORE, '--only', 'deb', '--out', 'release/before']);
}
makeMachine();
test([
  'tarball',
  'debian-package',
  'npm-package',
  'publisher-page',
  'bill-of-materials',
  'reproducible',
]);
// Allow skips: a Linux that can run the minimal Debian may still refuse to run containers.
test(['container'], { ...process.env, FORBID_PENDING: '' });
