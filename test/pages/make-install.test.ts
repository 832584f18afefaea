// Tests `make install` of the C publisher: its files, pkg-config, and a compiler that uses them.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.js';
import { needsPrograms } from '../support/needs.js';

describe('make install in sdk/c', () => {
  const folder = temporaryFolder();
  const make = (...words: readonly string[]) => {
    const { status, stderr } = spawnSync('make', ['-C', 'sdk/c', ...words], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
  };
  const files = () =>
    readdirSync(folder.path(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder.path(), join(parentPath, name)))
      .sort();
  const ALL = [
    'include/shm_metrics.h',
    'include/shm_publisher.h',
    'include/shm_publisher.hpp',
    'include/shm_updates.h',
    'share/pkgconfig/shm_publisher.pc',
  ];

  it('installs its files under a prefix or a DESTDIR, and uninstall removes them', () => {
    make('install', `PREFIX=${folder.path()}`);
    expect(files()).to.deep.equal(ALL);
    make('uninstall', `PREFIX=${folder.path()}`);
    expect(files()).to.deep.equal([]);
    make('install', `DESTDIR=${folder.path('stage')}`);
    expect(files()).to.deep.equal(ALL.map((file) => `stage/usr/local/${file}`));
  });

  it('makes pkg-config return flags that work, even after the files are moved', function () {
    needsPrograms(this, 'pkg-config');
    make('install', `PREFIX=${folder.path('before')}`);
    spawnSync('mv', [folder.path('before'), folder.path('after')]);
    const env = { ...process.env, PKG_CONFIG_PATH: folder.path('after/share/pkgconfig') };
    const words = ['--cflags', '--libs', 'shm_publisher'];
    const { stdout: flags } = spawnSync('pkg-config', words, { encoding: 'utf8', env });
    folder.write('a.c', '#include "shm_publisher.h"\nint main(void) { return 0; }\n');
    const command = `cc -o ${folder.path('a')} ${folder.path('a.c')} ${flags}`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('states the version of the project', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const text = readFileSync('sdk/c/shm_publisher.pc', 'utf8');
    expect(/^Version: (.*)$/m.exec(text)?.[1]).to.equal(version);
  });
});
