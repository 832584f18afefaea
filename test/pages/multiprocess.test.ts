import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
/** More than the largest pid of Linux. */
const NO_PID = 2 ** 22 + 1;

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
      '$ shm_exporter --config exporter.toml\n': /ready/,
    },
    checks: {
      '[[targets]]': (text) => {
        const file = programs.config({}, text);
        const { stdout } = programs.run('exporter', '--config', file, '--check-config');
        expect(stdout).to.equal('configuration is valid\n');
      },
      'cd /run/shop/metrics': (text) => {
        const of = (pid: number) => [`counter_${pid}.db`, `gauge_all_${pid}.db`];
        const metrics = folder('ended');
        mkdirSync(metrics);
        const clean = () => {
          const words = ['-c', text.replace('/run/shop/metrics', metrics)];
          const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
          expect([status, stderr]).to.deep.equal([0, '']);
          return readdirSync(metrics).sort();
        };
        expect(clean()).to.deep.equal([]);
        for (const name of [...of(process.pid), ...of(NO_PID), 'other'])
          writeFileSync(join(metrics, name), '');
        expect(clean()).to.deep.equal([...of(process.pid), 'other']);
      },
    },
    unrun: {
      '# /etc/systemd': 'systemd reads it when the machine starts a service',
      '[uwsgi]': 'the machine has no uWSGI',
      '$ PROMETHEUS_MULTIPROC_DIR=/run/mails/metrics celery': 'the machine has no Celery',
      '$ PROMETHEUS_MULTIPROC_DIR=/run/vllm/metrics vllm': 'the machine has no vLLM',
      '$ prometheus_multiproc_dir=/run/gitlab/metrics puma': 'the machine has no Puma',
    },
  });
});
