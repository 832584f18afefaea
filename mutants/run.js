// Tests the tests: changes the code of a folder in many small ways; some test must fail for each.
// Usage: npm run mutants -- FOLDER [Stryker's options]. See CONTRIBUTING.md.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What is changed, and the tests that run against it: those that wait for nothing. */
const FOLDERS = {
  streams: {
    mutate: ['src/streams/**/*.ts', 'src/pipeline.ts'],
    tests: [/^streams\//, /^pipeline\.test/],
  },
  rows: {
    mutate: ['src/exposition/rows/**/*.ts', 'src/catalogue/kinds/**/*.ts'],
    tests: [/^exposition\/rows\//, /^catalogue\/catalogue\.test/],
  },
  targets: {
    mutate: ['src/targets/**/*.ts', '!src/targets/threads/**'],
    tests: [
      /^targets\/(?!threads|snapshot-holding|handover\/random-moves|hosting\/partition\.contract)/,
    ],
  },
  sinks: {
    mutate: ['src/sinks/**/*.ts'],
    tests: [/^sinks\/(?!http\/routing-matrix)/],
  },
};

const [name = '', ...options] = process.argv.slice(2);
const folder = FOLDERS[name];
if (folder === undefined) {
  console.error(`usage: npm run mutants -- ${Object.keys(FOLDERS).join('|')} [options]`);
  process.exit(2);
}

const tests = readdirSync('dist-test', { recursive: true })
  .filter((file) => file.endsWith('.test.js') && folder.tests.some((each) => each.test(file)))
  .map((file) => join('dist-test', file));

const words = [
  'mutants/node_modules/@stryker-mutator/core/bin/stryker.js',
  ...['run', 'mutants/stryker.config.js'],
];
const given = ['--mutate', folder.mutate.join(','), '--testFiles', tests.join(','), ...options];
const stryker = spawn(process.execPath, [...words, ...given], { stdio: 'inherit' });
stryker.once('close', (status) => {
  process.exitCode = status ?? 1;
});
