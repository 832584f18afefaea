import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('README.md', {
  needs: ['curl'],
  words: async () => {
    const ports = await otherPorts('9464');
    return {
      // The source folder is already installed and built here.
      'npm ci && npm run demo': `npm run demo -- --port ${ports['9464'] ?? ''}`,
      ...ports,
      ...otherKeys('shop-1'),
    };
  },
  stays: {
    '$ npm ci && npm run demo': /Ctrl-C/,
    '$ dist/bin/shm_exporter.js': /ready: 1 object/,
  },
  checks: {
    'import time': (text) => {
      expect(readFileSync('sdk/python/examples/counter.py', 'utf8')).to.equal(text);
    },
  },
  endsAt: ['Demo and tests'],
  varies: [/(?<=requests_total\S+ )\d+/g],
});
