// Bundles each program with its packages into a file of dist/bin, so that a start reads that instead of
// some five hundred modules.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import { LAUNCH } from './launch.js';

const DIST = resolve('dist') + sep;
const BIN = 'dist/bin';
/** The executable programs: the first line of each starts Node.js. */
const PROGRAMS = {
  shm_exporter: 'dist/exporter/main.js',
  shm_bridge: 'dist/bridge/cli.js',
  shm_dump: 'dist/dump/cli.js',
  shm_license: 'dist/license/cli.js',
  shm_simulator: 'dist/simulator/cli.js',
};
/** The code of the exporter: its program first ignores the signals that would end it, then loads this. */
const CODE = { exporter: 'dist/exporter/cli.js' };
/** Code of worker threads, which the exporter expects in its own folder. */
const THREADS = {
  thread: 'dist/targets/threads/thread.js',
  'password-thread': 'dist/web-config/threads/password-thread.js',
};

/** Bundled modules keep their own `import.meta.url`, by which they find their data files. */
const ownModules = {
  name: 'own-modules',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      if (!path.startsWith(DIST)) return undefined;
      const text = readFileSync(path, 'utf8').replace(/^#!.*\n/, '');
      if (dirname(path).endsWith('/threads')) return { contents: text, loader: 'js' };
      const place = JSON.stringify(relative(BIN, path));
      const contents = text.replaceAll(
        'import.meta.url',
        `new URL(${place}, import.meta.url).href`,
      );
      return { contents, loader: 'js' };
    }),
};

/** A machine that they were not built for: where shared memory cannot be used, a program exits with 4. */
const REFUSE = `
  const [reason] = thrown.message.split('\\n');
  const program = process.argv[1].replace(/^.*\\/|\\.js$/g, '');
  require('node:fs').writeSync(2, program + ': the native modules cannot be loaded: ' + reason + '; docs/install.md says how to build them\\n');
  process.exit(4);`;

/**
 * The shared object of a package is loaded from the folder of that package, as the package does it.
 * ref-napi is looked for from ffi-napi, which depends on it.
 */
const loading = (name) => `
  const { createRequire } = require('node:module');
  const { dirname } = require('node:path');
  try {
    const ffi = require.resolve('ffi-napi/package.json');
    const manifest = ${name === 'ffi-napi' ? 'ffi' : `createRequire(ffi).resolve('${name}/package.json')`};
    module.exports = createRequire(manifest)('node-gyp-build')(dirname(manifest));
  } catch (thrown) { ${REFUSE} }`;
const OWN_LOADING = "require('node-gyp-build')(path.join(__dirname, '..'))";

/**
 * ffi-napi and ref-napi with the packages that they need: to find and read their twenty files takes an
 * eighth of a start. Both names of ref-napi stand for one copy of it. Messages for debugging are left out.
 */
const foreignFunctions = {
  name: 'foreign-functions',
  setup: (builder) => {
    const { onLoad, onResolve, resolve } = builder;
    const ofFfi = dirname(createRequire(import.meta.url).resolve('ffi-napi/package.json'));
    onResolve({ filter: /^ref-napi$/ }, ({ kind }) =>
      resolve('@2060.io/ref-napi', { kind, resolveDir: ofFfi }),
    );
    onLoad({ filter: /\/(ffi-napi\/lib\/bindings|ref-napi\/lib\/ref)\.js$/ }, ({ path }) => {
      const name = path.endsWith('/bindings.js') ? 'ffi-napi' : '@2060.io/ref-napi';
      const parts = readFileSync(path, 'utf8').split(OWN_LOADING);
      if (parts.length !== 2) throw new Error(`${path} loads its shared object in another way`);
      return { contents: parts.join(`require('shared-object:${name}')`), loader: 'js' };
    });
    onResolve({ filter: /^shared-object:/ }, ({ path }) => ({
      path: path.replace('shared-object:', ''),
      namespace: 'shared-object',
    }));
    onResolve({ filter: /\/package\.json$/, namespace: 'shared-object' }, ({ path }) => ({
      path,
      external: true,
    }));
    onLoad({ filter: /./, namespace: 'shared-object' }, ({ path }) => ({
      contents: loading(path),
    }));
    onResolve({ filter: /^debug$/ }, ({ path }) => ({ path, namespace: 'silent' }));
    onLoad({ filter: /./, namespace: 'silent' }, () => ({
      contents: 'module.exports = () => () => undefined;',
    }));
  },
};

/** Leaves the code of the exporter in a file of its own. */
const ownFile = {
  name: 'own-file',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/cli\.js$/ }, ({ importer }) =>
      importer.endsWith('/exporter/main.js')
        ? { path: './exporter.js', external: true }
        : undefined,
    ),
};

/** The place of a module of the file, and `Buffer` as a variable: the global one has a getter, which takes a call. */
const NAMES =
  "const __url=require('node:url').pathToFileURL(__filename).href,{Buffer}=require('node:buffer');";

export async function bundle() {
  rmSync(BIN, { recursive: true, force: true });
  const common = {
    outdir: BIN,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    // V8 keeps the text of a program: a third of it is white space and comments. Names stay, and lines
    // are short, so that a stack can be read.
    minifyWhitespace: true,
    // An array that is taken apart at once is none then: V8 would make an iterator of it.
    minifySyntax: true,
    lineLimit: 120,
  };
  const modules = {
    ...common,
    define: { 'import.meta.url': '__url' },
    // The same code as the one that Node would take, but in modules, so that what is unused goes.
    alias: { rxjs: './node_modules/rxjs/dist/esm/index.js' },
    plugins: [ownFile, ownModules, foreignFunctions],
  };
  const js = `'use strict';${NAMES}`;
  await build({
    ...modules,
    entryPoints: PROGRAMS,
    banner: { js: LAUNCH + js },
    // `require` loads the code of the exporter faster than `import`.
    supported: { 'dynamic-import': false },
  });
  await build({ ...modules, entryPoints: { ...CODE, ...THREADS }, banner: { js } });
  writeFileSync(`${BIN}/package.json`, '{"type":"commonjs"}\n');
  for (const name of Object.keys(PROGRAMS)) chmodSync(`${BIN}/${name}.js`, 0o755);
}
