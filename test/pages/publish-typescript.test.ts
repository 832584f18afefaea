import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/processes.js';
import { TYPESCRIPT_PAGE, readsTypeScriptPage } from './typescript-page.js';

/** Links the build as the packages; test/release/machine installs the packages themselves. */
const LINKED = [
  'mkdir -p node_modules/.bin',
  `ln -s '${join(PROJECT, 'dist/shm-publisher')}' node_modules/shm-publisher`,
  `ln -s '${PROJECT}' node_modules/shm-exporter`,
  'ln -s ../shm-exporter/dist/bin/shm_exporter.js node_modules/.bin/shm_exporter',
  'ln -s ../shm-exporter/dist/bin/shm_license.js node_modules/.bin/shm_license',
];

readsTypeScriptPage(LINKED.join(' && '), 'links');

describe(TYPESCRIPT_PAGE, () => {
  it('names the packages of this version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const named = readFileSync(TYPESCRIPT_PAGE, 'utf8').match(/shm-\w+-[\d.]+(?=\.tgz)/g);
    expect(named).to.deep.equal([`shm-publisher-${version}`, `shm-exporter-${version}`]);
  });
});
