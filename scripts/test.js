// Runs the tests, several files at a time, and fails when they leave anything behind.
// Usage: npm test [-- [mocha's options] [files of dist-test]]; FORBID_PENDING=1 lets nothing be skipped.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { settledTraces } from './traces.js';

/** Files that mostly wait for processes, longest first; the others mostly compute. */
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

/** All files, in an order in which some wait while others compute. */
function testFiles() {
  const all = readdirSync('dist-test', { recursive: true })
    // Those of a release need one that was built: scripts/release/check.js.
    .filter((file) => file.endsWith('.test.js') && !file.startsWith('release/machine'))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const waiting = all.filter((file) => rank(file) < WAITING.length);
  const computing = all.filter((file) => rank(file) === WAITING.length).reverse();
  // Each that waits is followed by its share of the others.
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
// Some of the files that run at a time wait, so there are more jobs than cores.
const jobs = String(Math.min(8, 1 + 2 * availableParallelism()));
const words = [
  'node_modules/mocha/bin/mocha.js',
  ...['--parallel', '--jobs', jobs, '--reporter', 'scripts/counting-reporter.js'],
  ...(process.env.FORBID_PENDING ? ['--forbid-pending'] : []),
  ...files,
  ...given,
];

// Where this run keeps its temporary files, and what its processes are known by.
const folder = mkdtempSync(join(tmpdir(), 'shm-tests-'));
// Some real programs work as users of their own.
chmodSync(folder, 0o755);
// A part of the name of each segment of this run; other programs on the machine make others.
const run = randomBytes(4).toString('hex');
const env = { ...process.env, TMPDIR: folder, TEST_RUN: run };
const mocha = spawn(process.execPath, words, { stdio: 'inherit', env });
// Ctrl-C reaches mocha as well; this process ends after it.
process.on('SIGINT', () => undefined);

mocha.once('close', async (status) => {
  const traces = await settledTraces(folder, run);
  rmSync(folder, { recursive: true, force: true });
  for (const trace of traces) console.error(`The tests left ${trace}`);
  process.exitCode = status === 0 && traces.length > 0 ? 1 : (status ?? 1);
});
