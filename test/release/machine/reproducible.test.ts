// Tests that a commit always gives the same release bytes, whatever the build environment.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { suiteFolder } from '../../support/suite-folder.js';
import { NPM_PACKAGE, PUBLISHER_PACKAGE, TARBALL, VERSION, debOf } from './machine.js';

describe('a release', function () {
  this.timeout(300_000).slow(120_000);
  const folder = suiteFolder('shm-again-');
  const sum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  const FILES = [TARBALL, debOf(VERSION), NPM_PACKAGE, PUBLISHER_PACKAGE];

  it('has a checksum beside each file', () => {
    for (const file of FILES)
      expect(readFileSync(`${file}.sha256`, 'utf8')).to.equal(`${sum(file)}  ${basename(file)}\n`);
  });

  it('has the same bytes when it is built in another folder, with another umask, time zone and language', () => {
    const source = folder('another place');
    for (const path of sources()) cpSync(path, join(source, path), { recursive: true });
    symlinkSync(resolve('node_modules'), join(source, 'node_modules'));
    const time = spawnSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).stdout;
    const build = 'umask 077; npm exec -c "node scripts/release/cli.js --out again"';
    const { status, stderr } = spawnSync('sh', ['-c', build], {
      cwd: source,
      encoding: 'utf8',
      env: { ...process.env, SOURCE_DATE_EPOCH: time.trim(), TZ: 'Asia/Tokyo', LC_ALL: 'C' },
    });
    expect(status, stderr).to.equal(0);
    for (const file of FILES)
      expect(sum(join(source, 'again', basename(file))), file).to.equal(sum(file));
  });
});

/** Returns the inputs of a release: the files of the commit, and the build. */
const sources = (): readonly string[] => [
  ...spawnSync('git', ['ls-files'], { encoding: 'utf8' }).stdout.trim().split('\n'),
  'dist',
];
