import { join } from 'node:path';
import { readsPage } from '../support/page-reader.js';
import { PROJECT } from '../support/processes.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('sdk/python/README.md', {
  needs: ['curl', 'python3'],
  folder: 'empty',
  words: async () => ({
    '/opt/shm_exporter/sdk/python': join(PROJECT, 'sdk/python'),
    ...otherKeys('count-1', 'durations-1', 'shop-1', 'kinds-1', 'web-1'),
    ...(await otherPorts('9464')),
  }),
  unrun: {
    'import shm_publisher.prometheus':
      'needs prometheus_client: test/end-to-end/gunicorn-segments.test.ts has this line',
    'PROMETHEUS_SHM_SERVER_KEY=shop': 'needs gunicorn: the same test starts it so',
    'from shm_publisher.registry':
      'needs prometheus_client: test/end-to-end/python-registry.test.ts runs such a program',
    'def post_fork': 'needs gunicorn',
    'publish("shop-{pid}"': 'a line of a program',
    '[[targets]]': 'needs workers: test/end-to-end/gunicorn-segments.test.ts has such a target',
  },
  stays: {
    '$ python3 ': /publishing/,
    '$ shm_exporter --app web --server-key count-1 ': /ready/,
    '$ shm_exporter --app shop': /ready/,
  },
  endsAt: ['A tree of objects'],
});
