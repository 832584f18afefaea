import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('docs/install.md', {
  words: async () => ({
    // The source folder is already installed and built here.
    'npm ci': 'npm --version',
    ...otherKeys('82'),
    ...(await otherPorts('9464')),
  }),
  stays: { '$ dist/bin/shm_exporter.js': /metrics at/ },
  unrun: {
    '# tar -xzf': 'needs a release and root: test/release/machine/tarball.test.ts does it',
    '# dpkg -i': 'needs a release and root: test/release/machine/debian-package.test.ts does it',
    '# npm install --global':
      'needs a release and root: test/release/machine/npm-package.test.ts does it',
    '# npm run --prefix':
      'needs a release and root: test/release/machine/npm-package.test.ts does it',
    '$ npm install ./shm-publisher':
      'needs a release: test/release/machine/publisher-page.test.ts does it',
    '$ podman build': 'needs a release and podman: test/release/machine/container.test.ts does it',
  },
});
