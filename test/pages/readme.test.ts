import { readsPage } from '../support/page-reader.js';
import { otherExporter, otherKeys } from './page-words.js';

readsPage('README.md', {
  needs: ['curl'],
  words: async () => {
    const exporter = await otherExporter();
    return {
      // The folder of the sources is installed and built here.
      'npm ci && npm run demo': `npm run demo -- --port ${exporter['9464'] ?? ''}`,
      ...exporter,
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
