import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { PROJECT } from '../support/processes.js';
import { TYPESCRIPT_PAGE, readsTypeScriptPage } from './typescript-page.js';

/** Links the sources as the package; test/release/machine installs the package itself. */
const LINKED = [
  'mkdir -p node_modules/.bin',
  `ln -s '${PROJECT}' node_modules/shm-exporter`,
  'ln -s ../shm-exporter/dist/bin/shm_exporter.js node_modules/.bin/shm_exporter',
  'ln -s ../shm-exporter/dist/bin/shm_license.js node_modules/.bin/shm_license',
];

readsTypeScriptPage(LINKED.join(' && '), 'links');

describe(TYPESCRIPT_PAGE, () => {
  it('names the package of this version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const named = readFileSync(TYPESCRIPT_PAGE, 'utf8').match(/shm-exporter-[\d.]+(?=\.tgz)/g);
    expect(named).to.deep.equal([`shm-exporter-${version}`]);
  });
});
