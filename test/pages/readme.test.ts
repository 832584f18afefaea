import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('README.md', {
  needs: ['curl'],
  npx: 'real',
  words: async () => {
    const ports = await otherPorts('9464');
    return {
      // The folder of the sources is installed and built here.
      'npm ci && npm run demo': `npm run demo -- --port ${ports['9464'] ?? ''}`,
      ...ports,
      '--server-key 82': `--server-key ${otherKeys('82')['82'] ?? ''}`,
    };
  },
  stays: {
    '$ npm ci && npm run demo': /Ctrl-C/,
    '$ npx shm_exporter': /ready: \d+ objects/,
  },
  endsAt: ['Run it'],
  varies: [/(?<=health_level )\d+/g],
});
