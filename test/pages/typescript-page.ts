// Tests the page for publishers in TypeScript, with different ways to install the npm package.
import { join } from 'node:path';
import { readsPage } from '../support/page-reader.js';
import { PROJECT } from '../support/processes.js';
import { uniqueName } from '../support/test-run.js';
import { otherKeys, otherPorts } from './page-words.js';

export const TYPESCRIPT_PAGE = 'docs/publish-typescript.md';

const link = (from: string, to: string): string => `ln -s '${join(PROJECT, from)}' ${to}`;

/** @param install a command that puts both npm packages into the folder `node_modules` */
export function readsTypeScriptPage(install: string, npx: 'real' | 'links'): void {
  readsPage(TYPESCRIPT_PAGE, {
    npx,
    needs: ['curl'],
    folder: 'empty',
    words: async () => ({
      'npm install ./shm-publisher-0.1.0.tgz ./shm-exporter-0.1.0.tgz': install,
      'npm install prom-client': link('node_modules/prom-client', 'node_modules'),
      'npm install @opentelemetry/sdk-metrics': link('node_modules/@opentelemetry', 'node_modules'),
      // Links the installed versions, because there is no registry.
      'npm install --save-dev typescript @types/node': [
        link('node_modules/typescript', 'node_modules'),
        link('node_modules/@types', 'node_modules'),
        link('node_modules/typescript/bin/tsc', 'node_modules/.bin'),
      ].join(' && '),
      ...otherKeys('shop-ts', 'tills-1', 'kinds-1', 'web-1', 'orders-1', 'mirror-1', 'meters-1'),
      'jobs-': `jobs-${uniqueName()}-`,
      ...(await otherPorts('9464')),
    }),
    stays: {
      '$ node jobs.mjs': /(?:publishing\s+){4}/,
      '$ node ': /publishing/,
      '$ PROMETHEUS_SHM_SERVER_KEY=': /publishing/,
      '$ npx shm_exporter --app shop --server-key shop-ts': /ready/,
    },
  });
}
