// Builds dist/: the TypeScript, the WebAssembly kernel, and the data files beside them.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.js';
import { prune } from './prune.js';
import { revision } from './revision.js';

const run = (bin, ...args) => execFileSync(`node_modules/.bin/${bin}`, args, { stdio: 'inherit' });

const ASSEMBLY = 'src/exposition/wasm/assembly';
const WASM = 'dist/exposition/wasm/kernel.wasm';
const isFresh =
  existsSync(WASM) &&
  ['../layout.ts', ...readdirSync(ASSEMBLY)].every(
    (file) => statSync(join(ASSEMBLY, file)).mtimeMs < statSync(WASM).mtimeMs,
  );

prune('dist', 'src', 'tools');
prune('dist-test', 'test');
run('tsc', '-b', 'tools');
mkdirSync('dist/exposition/wasm', { recursive: true });
if (!isFresh)
  run(
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
const isData = (path) =>
  !/\.(ts|tsbuildinfo)$/.test(path) &&
  !path.endsWith('tsconfig.json') &&
  !path.endsWith('/assembly');
// What is built from a copy without its repository keeps what was known before.
const commit = revision();
if (commit !== '' || !existsSync('dist/revision')) writeFileSync('dist/revision', `${commit}\n`);
for (const sources of ['src', 'tools'])
  cpSync(sources, 'dist', { recursive: true, filter: isData });
await bundle();
