// Runs the tests, several files at a time. Fails if they leave files, processes or segments behind.
// Usage: npm test [-- [mocha's options] [files of dist-test]]; with FORBID_PENDING=1, a skipped test is a failure.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { settledTraces } from './traces.js';

/** Test files that mostly wait for processes, the longest ones first. The other files mostly compute. */
const WAITING = [
  /^end-to-end.bridge/,
  /^end-to-end/,
  /^pages/,
  /^specification/,
  /^deploy.*-live/,
  /\bcli\.test/,
  /^native.pub/,
];
const rank = (file) => [...WAITING, /./].findIndex((each) => each.test(file));

/** All test files, ordered so that some wait while others compute. */
function testFiles() {
  const all = readdirSync('dist-test', { recursive: true })
    // The tests of a release need a built release; scripts/release/check.js runs them.
    .filter((file) => file.endsWith('.test.js') && !file.startsWith('release/machine'))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const waiting = all.filter((file) => rank(file) < WAITING.length);
  const computing = all.filter((file) => rank(file) === WAITING.length).reverse();
  // After each file that waits, put an equal share of the files that compute.
  const share = computing.length / waiting.length;
  return waiting
    .flatMap((file, i) => [
      file,
      ...computing.slice(Math.floor(i * share), Math.floor((i + 1) * share)),
    ])
    .map((file) => join('dist-test', file));
}

const given = process.argv.slice(2);
const files = given.some((each) => /\.test\.m?js$/.test(each)) ? [] : testFiles();
// Use more jobs than cores, since some of the running files only wait.
const jobs = String(Math.min(8, 1 + 2 * availableParallelism()));
const words = [
  'node_modules/mocha/bin/mocha.js',
  ...['--parallel', '--jobs', jobs, '--reporter', 'scripts/counting-reporter.js'],
  ...(process.env.FORBID_PENDING ? ['--forbid-pending'] : []),
  ...files,
  ...given,
];

// The folder for the temporary files of this run. The path is in the variable TMPDIR of the run's processes, and
// identifies them.
const folder = mkdtempSync(join(tmpdir(), 'shm-tests-'));
// Programs under test that run as other users must be able to enter the folder.
chmodSync(folder, 0o755);
// Part of the name of each segment of this run, which tells these segments from those of other programs.
const run = randomBytes(4).toString('hex');
const env = { ...process.env, TMPDIR: folder, TEST_RUN: run };
const mocha = spawn(process.execPath, words, { stdio: 'inherit', env });
// Ctrl-C reaches mocha as well. This process waits until mocha has ended.
process.on('SIGINT', () => undefined);

mocha.once('close', async (status) => {
  const traces = await settledTraces(folder, run);
  rmSync(folder, { recursive: true, force: true });
  for (const trace of traces) console.error(`The tests left behind ${trace}`);
  process.exitCode = status === 0 && traces.length > 0 ? 1 : (status ?? 1);
});
