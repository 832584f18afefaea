// Downloads packages of Debian and extracts them into a folder. Installs nothing.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { run } from './release/run.js';

/** The folder of the user's cache with all that these scripts fetch. */
export const CACHE = join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'shm_exporter');

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Extracts packages.
 * @param suite the distribution, such as `trixie`
 * @param tree the folder that becomes the root of the files
 */
export function extractPackages(suite, packages, tree) {
  for (const folder of [CACHE, tree]) mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'apt-'));
  try {
    for (const name of ['lists/partial', 'archives/partial', 'debs'])
      mkdirSync(join(work, name), { recursive: true });
    const list = join(work, 'sources.list');
    writeFileSync(list, `deb [signed-by=${KEYRING}] ${mirror()} ${suite} main\n`);
    const apt = (words, options) =>
      run(
        'apt-get',
        [
          ...['-qq', '-o', `Dir::Etc::sourcelist=${list}`, '-o', 'Dir::Etc::sourceparts=/dev/null'],
          ...['-o', `Dir::State::lists=${work}/lists`, '-o', `Dir::Cache=${work}`],
          // Without the installed packages, which may be newer than those of the suite.
          ...['-o', 'Dir::State::status=/dev/null'],
          // The folder belongs to this user, so the user _apt cannot write to it.
          ...['-o', 'APT::Sandbox::User='],
          ...words,
        ],
        options,
      );
    apt(['update']);
    apt(['download', ...packages], { cwd: join(work, 'debs') });
    for (const name of readdirSync(join(work, 'debs')))
      run('dpkg', ['--extract', join(work, 'debs', name), tree]);
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
