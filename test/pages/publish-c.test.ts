import { join } from 'node:path';
import { readsPage } from '../support/page-reader.js';
import { PROJECT } from '../support/processes.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('sdk/c/README.md', {
  needs: ['curl', 'pkg-config'],
  folder: 'empty',
  words: async () => ({
    '/opt/shm_exporter/sdk/c': join(PROJECT, 'sdk/c'),
    ...otherKeys('shop-1', 'kinds-1', 'web-1'),
    ...(await otherPorts('9464')),
  }),
  stays: {
    '$ ./': /publishing/,
    '$ shm_exporter --app shop': /ready/,
  },
});
