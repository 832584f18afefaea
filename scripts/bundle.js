// Bundles each program with its packages into one file in dist/bin, so that a start reads this file instead of
// about five hundred modules.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import { LAUNCH } from './launch.js';
import { SHARED_OBJECTS } from './release/native-modules.js';

const DIST = resolve('dist') + sep;
const BIN = 'dist/bin';
/** The executable programs. The first line of each file starts Node.js. */
const PROGRAMS = {
  shm_exporter: 'dist/exporter/main.js',
  shm_bridge: 'dist/bridge/cli.js',
  shm_dump: 'dist/dump/cli.js',
  shm_license: 'dist/license/cli.js',
  shm_simulator: 'dist/simulator/cli.js',
};
/** The code of the exporter. The program first ignores signals that would end it, then loads this file. */
const CODE = { exporter: 'dist/exporter/cli.js' };
/** The code of worker threads, which the exporter expects in the same folder. */
const THREADS = {
  thread: 'dist/targets/threads/thread.js',
  'password-thread': 'dist/web-config/threads/password-thread.js',
};

/** Keeps the `import.meta.url` of each bundled module, by which the module finds its data files. */
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

/**
 * Loads the shared object of a package: in a release from dist/prebuilds, otherwise from the folder of the package,
 * as the package itself does. Looks for ref-napi from the folder of ffi-napi, which depends on ref-napi. If the native
 * modules cannot be loaded, the program exits with status 4.
 */
const loading = (name) => `
  const { existsSync } = require('node:fs');
  const { createRequire } = require('node:module');
  const { dirname, join } = require('node:path');
  const platform = process.platform + '-' + process.arch;
  const compiled = join(__dirname, '../prebuilds', platform, '${SHARED_OBJECTS[name]}');
  const ofSources = () => {
    try {
      const ffi = createRequire(__filename).resolve('ffi-napi/package.json');
      const manifest = ${name === 'ffi-napi' ? 'ffi' : `createRequire(ffi).resolve('${name}/package.json')`};
      return () => createRequire(manifest)('node-gyp-build')(dirname(manifest));
    } catch {
      throw new Error('No native build was found for ' + platform + ' in ' + dirname(compiled));
    }
  };
  try {
    module.exports = existsSync(compiled) ? createRequire(__filename)(compiled) : ofSources()();
  } catch (thrown) {
    const [sentence] = thrown.message.split('\\n');
    const reason = 'the native modules cannot be loaded: ' + sentence + '; docs/install.md says how to build them';
    const program = process.argv[1].replace(/^.*\\/|\\.js$/g, '');
    require('node:fs').writeSync(2, program + ': ' + reason + '\\n');
    process.exit(4);
  }`;
const OWN_LOADING = "require('node-gyp-build')(path.join(__dirname, '..'))";

/**
 * Bundles ffi-napi and ref-napi with the packages that they need, because finding and reading their twenty files one
 * by one would take an eighth of the start time. Resolves both names of ref-napi to one copy, and omits debug
 * messages.
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
      if (parts.length !== 2)
        throw new Error(`${path} does not load its shared object in the expected way`);
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

/** Keeps the code of the exporter in a separate file. */
const ownFile = {
  name: 'own-file',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/cli\.js$/ }, ({ importer }) =>
      importer.endsWith('/exporter/main.js')
        ? { path: './exporter.js', external: true }
        : undefined,
    ),
};

const COMMONJS = '{"type":"commonjs"}\n';
/** Declares the URL of the bundle, and `Buffer` as a local variable: the global one is a getter, which costs a call. */
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
    // V8 keeps the text of a program in memory, and a third of it is white space and comments. Keep names and short
    // lines, so that stack traces stay readable.
    minifyWhitespace: true,
    // Turns a destructured array literal into plain assignments; V8 would make an array and an iterator.
    minifySyntax: true,
    lineLimit: 120,
  };
  const modules = {
    ...common,
    define: { 'import.meta.url': '__url' },
    // The ES modules of RxJS instead of its CommonJS code, so that esbuild removes unused exports.
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
  writeFileSync(`${BIN}/package.json`, COMMONJS);
  for (const name of Object.keys(PROGRAMS)) chmodSync(`${BIN}/${name}.js`, 0o755);
}
