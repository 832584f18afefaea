import { join } from 'node:path';
import { readsPage } from '../support/page-reader.js';
import { PROJECT } from '../support/processes.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('sdk/c/README.md', {
  needs: ['curl', 'pkg-config', 'c++'],
  folder: 'empty',
  words: async () => {
    const jobs = otherKeys('jobs')['jobs'] ?? '';
    return {
      '/opt/shm_exporter/sdk/c': join(PROJECT, 'sdk/c'),
      ...otherKeys('c-shop', 'cpp-shop', 'c-till', 'c-kinds'),
      'jobs-{pid}': `${jobs}-{pid}`,
      'jobs-*': `${jobs}-*`,
      ...(await otherPorts('9464')),
    };
  },
  unrun: {
    'shm_counter requests = shm_counter_new(metrics, &(shm_metric_options){.name':
      'a part of shop.c',
    cmake_minimum_required: 'test/pages/make-install.test.ts has it',
    "project('shop', 'c'": 'test/pages/make-install.test.ts has it',
  },
  stays: {
    '$ ./': /publishing/,
    '$ ./jobs': /publishing[^]*publishing/,
    '$ shm_exporter --app shop --server-key c-shop': /ready/,
  },
});
