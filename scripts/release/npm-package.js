// The npm package: its packages inside it, those with native code compiled, and no script to install.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { billOfMaterials } from './bill-of-materials.js';
import { stateVersion } from './c-publisher.js';
import { adaptManifests } from './native-modules.js';
import { writeLicenses } from './licenses.js';
import { isShipped } from './shipped.js';

const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md'];
/** Compiles the native modules where no compiled one fits. */
const BUILD_NATIVE = 'scripts/release/native-modules.js';

/** Writes the folder `package` that npm expects in the archive. */
export function writeNpmPackage(target, { staged, packages }, release) {
  const manifest = manifestOf(release);
  mkdirSync(target, { recursive: true });
  for (const name of [...TEXTS, ...manifest.files.filter((file) => !file.startsWith('!'))])
    cpSync(name, join(target, name), { recursive: true, filter: isShipped });
  stateVersion(target, release);
  mkdirSync(join(target, dirname(BUILD_NATIVE)), { recursive: true });
  cpSync(BUILD_NATIVE, join(target, BUILD_NATIVE));
  cpSync(join(staged, 'node_modules'), join(target, 'node_modules'), { recursive: true });
  adaptManifests(target);
  writeLicenses(join(target, 'licenses'), packages);
  writeFileSync(join(target, 'sbom.cdx.json'), billOfMaterials(packages, release, false));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The manifest of the sources, without the entries that only the sources need. */
function manifestOf({ version }) {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const key of ['allowScripts', 'devDependencies', 'overrides', 'private'])
    delete manifest[key];
  return {
    ...manifest,
    version,
    scripts: { 'build-native': `node ${BUILD_NATIVE}` },
    bundleDependencies: Object.keys(manifest.dependencies),
  };
}
