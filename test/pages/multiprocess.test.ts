import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { PYTHON_0_21 } from '../support/metric-libraries.js';
import { readsPage } from '../support/page-reader.js';
import { testPrograms } from '../support/processes.js';
import { suiteFolder } from '../support/suite-folder.js';
import { otherPorts } from './page-words.js';

const [PYTHON = ''] = PYTHON_0_21.program;
const GUNICORN = `#!/bin/sh
PYTHONPATH='${PYTHON_0_21.env['PYTHONPATH'] ?? ''}' exec '${PYTHON}' -m gunicorn "$@"
`;

describe('The page about Python and Ruby workers', () => {
  const programs = testPrograms();
  const folder = suiteFolder('shm-page-');

  readsPage('docs/multiprocess.md', {
    needs: ['curl'],
    holds: [
      [() => existsSync(PYTHON_0_21.tree), 'scripts/metric-libraries.js has fetched no libraries'],
    ],
    folder: 'empty',
    programs: { gunicorn: GUNICORN },
    words: async () => ({
      '/tmp/shop-metrics': folder('metrics'),
      ...(await otherPorts('8000', '9464')),
    }),
    stays: {
      '$ PROMETHEUS_MULTIPROC_DIR=/tmp/shop-metrics gunicorn': /(Booting worker[^]*){4}/,
      '$ shm_exporter --config exporter.toml': /ready/,
    },
    checks: {
      '[[targets]]': (text) => {
        const file = programs.config({}, text);
        const { stdout } = programs.run('exporter', '--config', file, '--check-config');
        expect(stdout).to.equal('configuration is valid\n');
      },
    },
    unrun: {
      '# /etc/systemd': 'systemd reads it when the machine starts a service',
      'cd /run/shop/metrics': 'the machine has no such application',
      '[uwsgi]': 'the machine has no uWSGI',
      '$ PROMETHEUS_MULTIPROC_DIR=/run/mails/metrics celery': 'the machine has no Celery',
      '$ PROMETHEUS_MULTIPROC_DIR=/run/vllm/metrics vllm': 'the machine has no vLLM',
      '$ prometheus_multiproc_dir=/run/gitlab/metrics puma': 'the machine has no Puma',
    },
  });
});
