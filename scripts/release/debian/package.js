// Builds the .deb: the tree below /usr/lib, with links, systemd units and a configuration in Debian's folders.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { settle } from '../archive.js';
import { NAMES } from '../programs.js';
import { run } from '../run.js';

const HERE = import.meta.dirname;
const NAME = 'shm-exporter';
const PROGRAMS = 'usr/lib/shm_exporter';
const DOC = `usr/share/doc/${NAME}`;
const UNITS = 'lib/systemd/system';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

/** Debian sorts `~` before the end of a version, so that a release comes after its pre-releases. */
const debianVersion = (version) => version.replace('-', '~');

/** Writes the package into the folder `out`, from a finished tree. `work` is a folder for temporary files. */
export function writeDebianPackage(out, tree, work, release) {
  const root = join(work, NAME);
  const place = (to, from = basename(to)) =>
    cpSync(join(tree, from), join(root, to), { recursive: true, verbatimSymlinks: true });
  for (const part of ['bin', 'dist', 'lib', 'package.json', 'sbom.cdx.json'])
    place(join(PROGRAMS, part));
  place('usr/include');
  for (const part of readdirSync(join(tree, 'share'))) place(`usr/share/${part}`, `share/${part}`);
  for (const part of ['README.md', 'SECURITY.md', 'docs', 'examples', 'licenses', 'sdk'])
    place(join(DOC, part));
  // deploy also has the systemd units, which go to another folder.
  for (const part of ['container', 'grafana', 'prometheus'])
    place(join(DOC, 'deploy', part), join('deploy', part));
  place(join(DOC, 'NEWS.md'), 'CHANGELOG.md');
  linkPrograms(root);
  writeUnits(root, join(tree, 'deploy'));
  writeConfiguration(root, tree);
  writeDebianTexts(root, release);
  compress(root);
  writeControl(root, release);
  settle(root, release);
  const file = join(out, `${NAME}_${debianVersion(release.version)}_amd64.deb`);
  const deb = ['--root-owner-group', '--threads-max=1', '-Zxz', '-z1', '--build', root, file];
  run('dpkg-deb', deb, { env: { ...process.env, SOURCE_DATE_EPOCH: String(release.epoch) } });
  rmSync(root, { recursive: true });
  return file;
}

function linkPrograms(root) {
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  for (const name of NAMES)
    symlinkSync(`../lib/shm_exporter/bin/${name}`, join(root, 'usr/bin', name));
}

function writeUnits(root, folder) {
  mkdirSync(join(root, UNITS), { recursive: true });
  for (const unit of readdirSync(folder).filter((file) => file.endsWith('.service'))) {
    const text = readFileSync(join(folder, unit), 'utf8')
      .replaceAll('/opt/shm_exporter/bin/', '/usr/bin/')
      .replaceAll('/opt/shm_exporter/docs/', `/${DOC}/docs/`);
    writeFileSync(join(root, UNITS, unit), text);
  }
}

/** Writes the example configuration, with the settings that a service needs. */
function writeConfiguration(root, tree) {
  mkdirSync(join(root, 'etc/shm_exporter/keys'), { recursive: true });
  const text = readFileSync(join(tree, 'examples/shm_exporter.toml'), 'utf8')
    .replace('#license_file = ""', 'license_file = "license.json"')
    .replace('#metrics_http_enabled = false', 'metrics_http_enabled = true');
  writeFileSync(join(root, 'etc/shm_exporter/exporter.toml'), text);
}

/** The maintainer of the package, from the variables that Debian's tools use. The default address does not exist. */
const { DEBFULLNAME = 'shm_exporter maintainers', DEBEMAIL = 'maintainers@shm-exporter.invalid' } =
  process.env;
const MAINTAINER = `${DEBFULLNAME} <${DEBEMAIL}>`;

function writeDebianTexts(root, { version, epoch }) {
  const day = run('date', ['-u', '-R', '-d', `@${epoch}`]).trim();
  const entry = `${NAME} (${debianVersion(version)}) stable; urgency=medium\n\n  * Release ${version}; NEWS.md says what changed.\n\n -- ${MAINTAINER}  ${day}\n`;
  writeFileSync(join(root, DOC, 'changelog'), entry);
  writeFileSync(join(root, DOC, 'copyright'), COPYRIGHT);
  const overrides = join(root, 'usr/share/lintian/overrides');
  mkdirSync(overrides, { recursive: true });
  cpSync(join(HERE, 'lintian-overrides'), join(overrides, NAME));
}

const COPYRIGHT = `Copyright 2026 the authors of shm_exporter, under the Apache License 2.0, which is in
/usr/share/common-licenses/Apache-2.0. The folder licenses beside this file has the
copyright notices and licenses of the other parts, a folder for each.
`;

/** Compresses manual pages and the changelog, as Debian requires. */
function compress(root) {
  const pages = join(root, 'usr/share/man/man1');
  const files = [
    ...readdirSync(pages).map((page) => join(pages, page)),
    join(root, DOC, 'changelog'),
  ];
  run('gzip', ['-9', '-n', ...files]);
}

function writeControl(root, { version }) {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const size = files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
  const sums = files
    .filter((file) => !file.startsWith('etc/'))
    .map((file) => `${md5(join(root, file))}  ${file}\n`);
  const folder = join(root, 'DEBIAN');
  mkdirSync(folder);
  const control = readFileSync(join(HERE, 'control'), 'utf8')
    .replace('@MAINTAINER@', MAINTAINER)
    .replace('@VERSION@', debianVersion(version))
    .replace('@SIZE@', String(Math.ceil(size / 1024)));
  writeFileSync(join(folder, 'control'), control);
  writeFileSync(join(folder, 'md5sums'), sums.join(''));
  cpSync(join(HERE, 'conffiles'), join(folder, 'conffiles'));
  for (const script of SCRIPTS) {
    cpSync(join(HERE, script), join(folder, script));
    chmodSync(join(folder, script), 0o755);
  }
}

const md5 = (path) => createHash('md5').update(readFileSync(path)).digest('hex');
