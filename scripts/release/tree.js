// The folder that the tarball holds and the .deb installs: programs, their Node.js, pages and texts.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.js';
import { writeLicenses } from './licenses.js';
import { writePages } from './pages/write-pages.js';
import { NAMES } from './programs.js';
import { run } from './run.js';

const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'];
const FOLDERS = ['deploy', 'docs', 'examples', 'sdk'];
/** What the programs load of a package with native code at run time. */
const LOADED = /\/(lib|prebuilds)(\/|$)|\/package\.json$|\/LICENSE$/;
/** Of the packages, the bundled programs load these alone. */
const AT_RUN_TIME = new Set([
  ...['@2060.io/ffi-napi', '@2060.io/ref-napi', 'debug', 'ms', 'node-gyp-build'],
  ...['ref-struct-di', 'get-uv-event-loop-napi-h', 'get-symbol-from-current-process-h'],
]);

/** `parts` has the folders of the compiled packages and of the Node.js, and the packages. */
export function writeTree(target, { staged, node, packages }, release) {
  copyPrograms(target);
  copyRunTimePackages(target, staged, packages);
  mkdirSync(join(target, 'lib'), { recursive: true });
  cpSync(join(node, 'bin/node'), join(target, 'lib/node'));
  run('strip', [join(target, 'lib/node')]);
  writeWrappers(join(target, 'bin'));
  writePages(target, release);
  for (const name of [...TEXTS, ...FOLDERS]) cpSync(name, join(target, name), { recursive: true });
  writeLicenses(join(target, 'licenses'), packages, node);
  writeFileSync(join(target, 'sbom.cdx.json'), billOfMaterials(packages, release, true));
  const { name, type, imports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const manifest = { name, version: release.version, private: true, type, imports };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The bundled programs, and the data files where these look for them. */
function copyPrograms(target) {
  const isCode = (path) => /\.(js|d\.ts|map|tsbuildinfo)$/.test(path);
  const isProgram = (path) => dirname(path) === 'dist/bin' && path.endsWith('.js');
  cpSync('dist', join(target, 'dist'), {
    recursive: true,
    filter: (path) => isProgram(path) || !isCode(path),
  });
  run('find', [join(target, 'dist'), '-type', 'd', '-empty', '-delete']);
}

function copyRunTimePackages(target, staged, packages) {
  for (const each of packages.filter(({ name }) => AT_RUN_TIME.has(name))) {
    const from = join(staged, each.folder);
    const isWanted = (path) => path === from || LOADED.test(path.slice(from.length));
    cpSync(from, join(target, each.folder), {
      recursive: true,
      filter: each.hasInstallScript ? isWanted : (path) => path === from || isLoadable(path, from),
    });
  }
  for (const module of run('find', [target, '-name', '*.node']).split('\n').filter(Boolean))
    run('strip', ['--strip-unneeded', module]);
}

const isLoadable = (path, from) =>
  !/\/(\.[^/]*|test|tests|docs|example|dist|[^/]*\.md)$/.test(path.slice(from.length)) &&
  basename(path) !== 'node_modules';

function writeWrappers(folder) {
  const text = readFileSync(new URL('wrapper.sh', import.meta.url), 'utf8');
  mkdirSync(folder, { recursive: true });
  for (const name of NAMES) {
    writeFileSync(join(folder, name), text.replaceAll('PROGRAM', name));
    chmodSync(join(folder, name), 0o755);
  }
}
