// Builds a release into a folder: the tarball, the .deb, the npm package, and the npm and Python packages of the
// publisher libraries, each with its checksum.
// Usage: npm run release [-- [--out DIR] [--version V] [--only pages,tarball,deb,npm,publisher,python]]
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { settle, tarball, writeChecksum } from './archive.js';
import { releaseOf } from './commit.js';
import { writeDebianPackage } from './debian/package.js';
import { buildNativeModules } from './native-modules.js';
import { fetchNode } from './node-binary.js';
import { writeNpmPackage } from './npm-package.js';
import { copyPackages, productionPackages } from './packages.js';
import { writePublisherRelease } from './publisher-package.js';
import { writePythonPackages } from './python-package.js';
import { writePages } from './pages/write-pages.js';
import { writeTree } from './tree.js';

const FORMS = ['pages', 'tarball', 'deb', 'npm', 'publisher', 'python'];
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/;

function optionsOf(args) {
  const text = (fallback) => ({ type: 'string', default: fallback });
  const { values } = parseArgs({
    args,
    options: {
      out: text('release'),
      version: { type: 'string' },
      only: text('tarball,deb,npm,publisher,python'),
    },
  });
  const { out, version, only } = values;
  const stray = only.split(',').find((form) => !FORMS.includes(form));
  if (stray !== undefined)
    throw new Error(`--only: found "${stray}", allowed: ${FORMS.join(', ')}, between commas`);
  if (version !== undefined && !VERSION.test(version))
    throw new Error(
      `--version: found "${version}", allowed: three numbers, such as 1.2.3 or 1.2.3-rc.1`,
    );
  return { out: resolve(out), version, forms: new Set(only.split(',')) };
}

function build({ out, version, forms }, work) {
  const release = releaseOf(version);
  mkdirSync(out, { recursive: true });
  if (forms.has('pages')) writePages(out, release);
  const libraries = [
    ...(forms.has('publisher') ? [publisherPackage(out, work, release)] : []),
    ...(forms.has('python') ? writePythonPackages(out, work, release) : []),
  ];
  if (!['tarball', 'deb', 'npm'].some((form) => forms.has(form))) return libraries;
  const parts = partsIn(work);
  return [
    ...libraries,
    ...(forms.has('tarball') || forms.has('deb') ? fromTree(out, work, parts, release, forms) : []),
    ...(forms.has('npm') ? [npmPackage(out, work, parts, release)] : []),
  ];
}

/** Collects the parts of a release: the packages, their compiled modules, and Node.js. */
function partsIn(work) {
  const [staged, compiled, node] = ['s', 'c', 'n'].map((name) => join(work, name));
  const packages = productionPackages();
  fetchNode(node);
  copyPackages(packages, staged);
  buildNativeModules(join(staged, 'node_modules'), compiled, node);
  return { packages, staged, compiled, node };
}

function fromTree(out, work, parts, release, forms) {
  const tree = join(work, `shm_exporter-${release.version}-linux-x64`);
  writeTree(tree, parts, release);
  settle(tree, release);
  const file = join(out, `${basename(tree)}.tar.gz`);
  if (forms.has('tarball')) tarball(tree, file);
  const deb = forms.has('deb') ? [writeDebianPackage(out, tree, work, release)] : [];
  return [...(forms.has('tarball') ? [file] : []), ...deb];
}

function npmPackage(out, work, parts, release) {
  const folder = join(work, 'package');
  writeNpmPackage(folder, parts, release);
  return npmArchive(folder, join(out, `shm-exporter-${release.version}.tgz`), release);
}

function publisherPackage(out, work, release) {
  const folder = join(work, 'publisher/package');
  writePublisherRelease(folder, productionPackages(), release);
  return npmArchive(folder, join(out, `shm-publisher-${release.version}.tgz`), release);
}

function npmArchive(folder, file, release) {
  settle(folder, release);
  tarball(folder, file);
  return file;
}

const work = mkdtempSync(join(tmpdir(), 'shm-release-'));
try {
  for (const file of build(optionsOf(process.argv.slice(2)), work)) {
    const megabytes = (statSync(file).size / 1e6).toFixed(1);
    console.log(`${file}: ${megabytes} MB, sha256 ${writeChecksum(file)}`);
  }
} catch ({ message }) {
  console.error(`release: ${message}`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
