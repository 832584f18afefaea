// Writes the npm package of the exporter: bundled programs and compiled native modules. It has no dependencies and no
// install script, so that every package manager installs it in the same way, without a registry.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.js';
import { stateVersion } from './c-publisher.js';
import { SOURCES } from './native-modules.js';
import { writeProgramLicenses } from './licenses.js';
import { statePythonVersion } from './python-package.js';
import { isShipped } from './shipped.js';
import { copyPrograms } from './tree.js';

const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md'];
/** The script that compiles the native modules on a machine for which the package has none. */
const BUILD_NATIVE = 'scripts/release/native-modules.js';
/** The entries of the package that do not exist in the source tree. */
const MADE = [SOURCES, 'scripts', 'licenses', 'sbom.cdx.json'];
/** The packages that this script compiles, and the packages with the headers that they need. */
const COMPILED = [
  'ffi-napi',
  '@2060.io/ref-napi',
  'node-addon-api',
  'get-uv-event-loop-napi-h',
  'get-symbol-from-current-process-h',
];

/** Writes the folder that npm expects in the archive, under the name `package`. */
export function writeNpmPackage(target, { staged, compiled, packages }, release) {
  const manifest = manifestOf(release);
  mkdirSync(target, { recursive: true });
  const isMade = (file) => file.startsWith('!') || file === 'dist' || MADE.includes(file);
  for (const name of [...TEXTS, ...manifest.files.filter((file) => !isMade(file))])
    cpSync(name, join(target, name), { recursive: true, filter: isShipped });
  stateVersion(target, release);
  statePythonVersion(join(target, 'sdk/python'), release);
  copyPrograms(target, compiled);
  mkdirSync(join(target, dirname(BUILD_NATIVE)), { recursive: true });
  cpSync(BUILD_NATIVE, join(target, BUILD_NATIVE));
  for (const name of COMPILED)
    cpSync(join(staged, 'node_modules', name), join(target, SOURCES, name), { recursive: true });
  writeProgramLicenses(join(target, 'licenses'), packages);
  writeFileSync(join(target, 'sbom.cdx.json'), billOfMaterials(packages, release, false));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The package.json of the project, without the keys that only development needs. */
function manifestOf({ version }) {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const ofSources = ['allowScripts', 'dependencies', 'devDependencies', 'imports', 'overrides'];
  for (const key of [...ofSources, 'private']) delete manifest[key];
  return {
    ...manifest,
    version,
    files: [...manifest.files, ...MADE],
    scripts: { 'build-native': `node ${BUILD_NATIVE}` },
    // Yarn's Plug'n'Play would keep the package in an archive, from which native modules cannot be loaded.
    preferUnplugged: true,
  };
}
