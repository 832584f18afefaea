// Tests the advice in the message when the start is refused because of the license.
import { expect } from 'chai';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#app/errors.js';
import { licenseRemedy } from '#app/license/license.js';
import { refusal } from '#app/license/license-document.js';
import {
  KEY_FOLDER,
  loadTrustedKeys,
  makeKeyPair,
  trustedKeys,
} from '#app/license/license-keys.js';
import { loadLicense } from '#app/license/license-watch.js';
import { temporaryFolder } from './temporary-folder.js';

describe('The advice when a license is missing or unreadable', () => {
  const inFolder = temporaryFolder();
  const forGood = 'for permanent use: docs/license.md of the package says who issues licenses';
  const issue = 'for evaluation: shm_license issue --licensee NAME --days 30 --out';

  for (const [file, out] of [
    ['/etc/shm_exporter/license.json', '/etc/shm_exporter/license.json'],
    ['', 'license.json'],
    ['my license.json', 'license.json'],
    ['$(reboot)', 'license.json'],
  ] as const)
    it(`has a command that is safe in a shell if the file is "${file}"`, () =>
      expect(licenseRemedy(file, loadTrustedKeys())).to.equal(`${issue} ${out}; ${forGood}`));

  it('omits the evaluation license if the evaluation key is deleted', () => {
    makeKeyPair(inFolder('own'), 'acme');
    copyFileSync(join(KEY_FOLDER, 'evaluation.pub.pem'), inFolder('own/evaluation.pub.pem'));
    makeKeyPair(inFolder('shipped'), 'vendor');
    const keys = trustedKeys(inFolder('own'), inFolder('shipped'));
    expect([...keys.keys()]).to.have.members(['acme', 'vendor']);
    expect(licenseRemedy('l.json', keys)).to.equal(forGood);
  });

  it('names only the missing permission if the license exists', () => {
    const denied = Object.assign(new Error('EACCES'), { code: 'EACCES' });
    expect(licenseRemedy('l.json', loadTrustedKeys(), denied)).to.equal(
      'let the user that runs the exporter read the file and enter its folders: see docs/license.md of the package',
    );
    const missing = () => loadLicense(inFolder('none.json'));
    expect(missing).to.throw(Fault).with.nested.property('cause.code', 'ENOENT');
  });

  it('is on the same line as the reason for the refusal', () =>
    expect(refusal('License file l.json is not JSON', forGood)).to.include({
      code: 'LICENSE_REJECTED',
      message: `License file l.json is not JSON; ${forGood}`,
    }));
});
