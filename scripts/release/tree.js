// Writes the folder for the tarball and the .deb: programs, Node.js, manual pages and documents.
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OPTIONS } from '../launch.js';
import { PACKAGE as PUBLISHER } from '../publisher-package.js';
import { billOfMaterials } from './bill-of-materials.js';
import { placeCPublisher, stateVersion } from './c-publisher.js';
import { writeProgramLicenses } from './licenses.js';
import { writePages } from './pages/write-pages.js';
import { NAMES } from './programs.js';
import { statePythonVersion } from './python-package.js';
import { run } from './run.js';
import { isShipped } from './shipped.js';

const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'];
/** The addon and the npm package of the publisher library, which have a release of their own. */
const OF_PUBLISHER = ['dist/native/os/prebuilds', PUBLISHER];
const FOLDERS = ['deploy', 'docs', 'examples', 'sdk'];
/** @param parts the packages, and the folders of the compiled packages and of Node.js */
export function writeTree(target, { compiled, node, packages }, release) {
  copyPrograms(target, compiled);
  for (const name of NAMES) forWrapper(join(target, 'dist/bin', `${name}.js`));
  mkdirSync(join(target, 'lib'), { recursive: true });
  cpSync(join(node, 'bin/node'), join(target, 'lib/node'));
  run('strip', [join(target, 'lib/node')]);
  writeWrappers(join(target, 'bin'));
  writePages(target, release);
  for (const name of [...TEXTS, ...FOLDERS])
    cpSync(name, join(target, name), { recursive: true, filter: isShipped });
  stateVersion(target, release);
  statePythonVersion(join(target, 'sdk/python'), release);
  placeCPublisher(target);
  writeProgramLicenses(join(target, 'licenses'), packages, node);
  writeFileSync(join(target, 'sbom.cdx.json'), billOfMaterials(packages, release, true));
  const { name, type, imports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const manifest = { name, version: release.version, private: true, type, imports };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Copies the bundled programs, their native modules, and the data files that they look for. */
export function copyPrograms(target, compiled) {
  const isCode = (path) => /\.(js|d\.ts|map|tsbuildinfo)$/.test(path);
  const isProgram = (path) => dirname(path) === 'dist/bin' && path.endsWith('.js');
  cpSync('dist', join(target, 'dist'), {
    recursive: true,
    filter: (path) => !OF_PUBLISHER.includes(path) && (isProgram(path) || !isCode(path)),
  });
  cpSync(compiled, join(target, 'dist/prebuilds'), { recursive: true });
  run('find', [join(target, 'dist'), '-type', 'd', '-empty', '-delete']);
  const bundles = join(target, 'dist/bin');
  for (const name of readdirSync(bundles)) withoutMap(join(bundles, name));
}

/** Removes the reference to a source map. A release has no source maps, since it does not contain the sources. */
function withoutMap(path) {
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
}

/** Removes the first line and the executable mode: only the wrapper runs this file, with the release's Node.js. */
function forWrapper(path) {
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^#!.*\n/, ''));
  chmodSync(path, 0o644);
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
