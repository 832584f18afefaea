// Builds dist/: the TypeScript, the WebAssembly kernel, and the data files beside them.
// Usage: build.js [--no-check]. Without type checks, which `npm run check` makes, the build takes two thirds of the
// time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse } from 'toml';
import { buildAddon } from './addon.js';
import { bundle } from './bundle.js';
import { prune } from './prune.js';
import { bundlePublisher } from './publisher-package.js';
import { revision } from './revision.js';

async function run(bin, ...args) {
  const [status] = await once(
    spawn(`node_modules/.bin/${bin}`, args, { stdio: 'inherit' }),
    'exit',
  );
  if (status !== 0) process.exit(1);
}

const ASSEMBLY = 'src/exposition/wasm/assembly';
const WASM = 'dist/exposition/wasm/kernel.wasm';
const isFresh =
  existsSync(WASM) &&
  ['../layout.ts', ...readdirSync(ASSEMBLY)].every(
    (file) => statSync(join(ASSEMBLY, file)).mtimeMs < statSync(WASM).mtimeMs,
  );

prune('dist', 'src', 'tools');
prune('dist-test', 'test');
mkdirSync('dist/exposition/wasm', { recursive: true });
const assembled = isFresh
  ? undefined
  : run(
      'asc',
      join(ASSEMBLY, 'index.ts'),
      '--outFile',
      WASM,
      '-O3',
      '--noAssert',
      '--runtime',
      'stub',
      '--importMemory',
      '--enable',
      'threads',
      '--enable',
      'simd',
      '--sharedMemory',
      '--initialMemory',
      '16',
      '--maximumMemory',
      '65536',
      '--noExportMemory',
      '--lowMemoryLimit',
      '0',
    );
const noCheck = process.argv.includes('--no-check') ? ['--noCheck'] : [];
await Promise.all([run('tsc', '-b', 'tools', ...noCheck), assembled]);
const isData = (path) =>
  !/\.(ts|tsbuildinfo)$/.test(path) &&
  !path.endsWith('tsconfig.json') &&
  !path.endsWith('/assembly');
// A copy without its repository, such as a container's, keeps the commit of the previous build.
const commit = revision();
if (commit !== '' || !existsSync('dist/revision')) writeFileSync('dist/revision', `${commit}\n`);
for (const sources of ['src', 'tools'])
  cpSync(sources, 'dist', { recursive: true, filter: isData });
// The exporter reads the built-in catalogues as JSON, which it parses in a fraction of the time.
const CATALOGUES = 'dist/catalogue';
for (const file of readdirSync(CATALOGUES).filter((name) => name.endsWith('.toml'))) {
  const values = parse(readFileSync(join(CATALOGUES, file), 'utf8'));
  writeFileSync(join(CATALOGUES, file.replace(/toml$/, 'json')), JSON.stringify(values));
}
buildAddon('dist/native/os/prebuilds');
await Promise.all([bundle(), bundlePublisher()]);
