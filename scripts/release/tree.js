// The folder that the tarball holds and the .deb installs: programs, their Node.js, pages and texts.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OPTIONS } from '../launch.js';
import { billOfMaterials } from './bill-of-materials.js';
import { placeCPublisher, stateVersion } from './c-publisher.js';
import { writeLicenses } from './licenses.js';
import { writePages } from './pages/write-pages.js';
import { NAMES } from './programs.js';
import { run } from './run.js';
import { isShipped } from './shipped.js';

const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'];
const FOLDERS = ['deploy', 'docs', 'examples', 'sdk'];
/** Of the packages, the bundled programs load these at run time: the shared objects, and what finds them. */
const AT_RUN_TIME = new Set(
  ['ffi-napi', '@2060.io/ref-napi', 'node-gyp-build'].map((name) => `node_modules/${name}`),
);
const LOADED = /^\/prebuilds(\/|$)|^\/(package\.json|index\.js|node-gyp-build\.js|license.*)$/i;

/** `parts` has the folders of the compiled packages and of the Node.js, and the packages. */
export function writeTree(target, { staged, node, packages }, release) {
  copyPrograms(target);
  copyRunTimePackages(target, staged, packages);
  mkdirSync(join(target, 'lib'), { recursive: true });
  cpSync(join(node, 'bin/node'), join(target, 'lib/node'));
  run('strip', [join(target, 'lib/node')]);
  writeWrappers(join(target, 'bin'));
  writePages(target, release);
  for (const name of [...TEXTS, ...FOLDERS])
    cpSync(name, join(target, name), { recursive: true, filter: isShipped });
  stateVersion(target, release);
  placeCPublisher(target);
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
  for (const name of NAMES) {
    // Only the wrapper runs it, and knows which Node.js.
    const path = join(target, 'dist/bin', `${name}.js`);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^#!.*\n/, ''));
    chmodSync(path, 0o644);
  }
}

function copyRunTimePackages(target, staged, packages) {
  for (const { folder } of packages.filter(({ folder }) => AT_RUN_TIME.has(folder))) {
    const from = join(staged, folder);
    const isLoaded = (path) => LOADED.test(path.slice(from.length));
    cpSync(from, join(target, folder), {
      recursive: true,
      filter: (path) => path === from || isLoaded(path),
    });
  }
  run('find', [join(target, 'node_modules'), '-type', 'd', '-empty', '-delete']);
}

function writeWrappers(folder) {
  const text = readFileSync(new URL('wrapper.sh', import.meta.url), 'utf8');
  mkdirSync(folder, { recursive: true });
  for (const name of NAMES) {
    const wrapper = text.replaceAll('PROGRAM', name).replace('OPTIONS', OPTIONS);
    writeFileSync(join(folder, name), wrapper);
    chmodSync(join(folder, name), 0o755);
  }
}
