// Writes the npm package of the publisher library into a folder of dist. The package has no dependencies.
//
// Each entry exists three times. Node and test runners share the CommonJS file: the ES module for `import` only names
// its exports, so that a program with both kinds of modules has one default registry. Bundlers take an ES module of
// its own (the condition `module`), since some cannot convert `require`.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';

export const NAME = 'shm-publisher';
/** The package with the addon of this machine, which programs of this project's tests install. */
export const PACKAGE = `dist/${NAME}`;
/** Packages whose code the library contains. */
export const CONTAINED = ['tdigest', 'bintrees'];
const SOURCE = 'sdk/typescript';
const ADDONS = 'dist/native/os/prebuilds';
/** The modules of the package's entries in dist. Other entries use the first one, and do not contain a copy. */
const ENTRIES = {
  index: 'native/publisher/library',
  'prom-client': 'native/publisher/prom-client',
  opentelemetry: 'native/publisher/opentelemetry',
};

/** The ends of the names of an ES module for bundlers, and of its code. */
const [FOR_BUNDLERS, CODE] = ['.module', '.code'];

/** Makes all entries use one copy of the library. */
const oneLibrary = (library) => ({
  name: 'one-library',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/publisher\/library\.js$|^\.\/library\.js$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: library, external: true },
    ),
});

/** Declares the URL of the file that contains this code: of the package, or of a program's bundle. */
const OWN_URL =
  "const __url=KNOWN??'file://'+encodeURI(typeof __filename==='string'?__filename:process.argv[1]??'/').replace(/[?#]/g,encodeURIComponent);";
const BANNERS = {
  cjs: `'use strict';${OWN_URL.replace('KNOWN', 'undefined')}`,
  esm: OWN_URL.replace('KNOWN', 'import.meta.url'),
};

/**
 * Makes the default export of the entry `prom-client` an object like that of prom-client: with the content type of the
 * default registry, and without `__esModule`.
 */
const likePromClient = (library) => `
Object.defineProperty(Object.assign({}, ${library}), 'contentType', {
  enumerable: true,
  get() { return this.register.contentType; },
  set(contentType) { this.register.setContentType(contentType); },
})`;
const LIKE_PROM_CLIENT = `if ('prometheusContentType' in module.exports) module.exports = ${likePromClient('module.exports')};`;

/** Bundles the entries; for ES modules, returns the names that each exports. */
async function writeCode(format) {
  const [suffix, extension] = format === 'esm' ? [CODE, '.mjs'] : ['', '.js'];
  const { metafile } = await build({
    entryPoints: Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, module]) => [entry + suffix, `dist/${module}.js`]),
    ),
    outdir: PACKAGE,
    outExtension: { '.js': extension },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    conditions: ['shm-addon'],
    define: { 'import.meta.url': '__url' },
    banner: { js: BANNERS[format] },
    footer: { js: format === 'cjs' ? LIKE_PROM_CLIENT : '' },
    // The global `Buffer` is a getter, which costs a call.
    inject: ['scripts/buffer.js'],
    plugins: [oneLibrary(`./index${suffix}${extension}`)],
    external: ['prom-client', '@opentelemetry/*'],
    sourcemap: true,
    metafile: true,
    logLevel: 'warning',
  });
  const packages = Object.keys(metafile.inputs).flatMap((file) => {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file) ?? [];
    return name === undefined || CONTAINED.includes(name) ? [] : [name];
  });
  if (packages.length > 0)
    throw new Error(`scripts/publisher-package.js: CONTAINED lacks ${packages.join(', ')}`);
  return new Map(
    Object.entries(metafile.outputs).map(([file, { exports }]) => [
      basename(file, suffix + extension),
      exports,
    ]),
  );
}

/** The ES module that names the exports of the CommonJS file. */
const renamed = (entry, names) =>
  `import library from './${entry}.js';
export const { ${names.filter((name) => name !== 'default').join(', ')} } = library;
export default library;
`;

/** The ES module for bundlers, which adds a default export to the code. */
const withDefault = (entry) => `export * from './${entry}${CODE}.mjs';
import * as library from './${entry}${CODE}.mjs';
export default ${entry === 'prom-client' ? likePromClient('library') : 'library'};
`;

/** Copies a declaration file, and all declaration files that it imports. */
function copyTypes(file, target, copied) {
  if (copied.has(file)) return;
  copied.add(file);
  const text = readFileSync(join('dist', file), 'utf8').replace(/^\/\/# sourceMappingURL.*$/m, '');
  mkdirSync(join(target, dirname(file)), { recursive: true });
  writeFileSync(join(target, file), text);
  for (const [, path] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)\.js['"]/g))
    copyTypes(join(dirname(file), `${path}.d.ts`), target, copied);
}

const exportsOf = (entry) => {
  const kind = (types, file) => ({ types, module: `./${entry}${FOR_BUNDLERS}.mjs`, default: file });
  return {
    import: kind(`./${entry}.d.mts`, `./${entry}.mjs`),
    require: kind(`./${entry}.d.ts`, `./${entry}.js`),
  };
};

export function writeManifest(target, manifest) {
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

export async function bundlePublisher() {
  rmSync(PACKAGE, { recursive: true, force: true });
  const names = await writeCode('esm');
  await writeCode('cjs');
  const entries = {};
  for (const [entry, module] of Object.entries(ENTRIES)) {
    const types = `export * from './types/${module}.js';\n`;
    writeFileSync(join(PACKAGE, `${entry}.d.ts`), types);
    const asDefault = `import * as library from './types/${module}.js';\nexport default library;\n`;
    writeFileSync(join(PACKAGE, `${entry}.d.mts`), types + asDefault);
    writeFileSync(join(PACKAGE, `${entry}.mjs`), renamed(entry, names.get(entry) ?? []));
    writeFileSync(join(PACKAGE, `${entry}${FOR_BUNDLERS}.mjs`), withDefault(entry));
    copyTypes(`${module}.d.ts`, join(PACKAGE, 'types'), new Set());
    entries[entry === 'index' ? '.' : `./${entry}`] = exportsOf(entry);
  }
  const manifest = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const exports = { ...entries, ...manifest.exports };
  writeManifest(PACKAGE, { ...manifest, version, exports });
  cpSync(join(SOURCE, 'README'), join(PACKAGE, 'README.md'));
  cpSync(join(SOURCE, 'addon.c'), join(PACKAGE, 'addon.c'));
  cpSync(ADDONS, join(PACKAGE, 'prebuilds'), { recursive: true });
}
