import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { PageOutput } from '../support/page-output.js';
import { readsPage } from '../support/page-reader.js';
import { testPrograms } from '../support/processes.js';

const programs = testPrograms();

readsPage('docs/stdout.md', {
  needs: ['promtool'],
  checks: {
    'shm_exporter --config exporter.toml --once': (text) => {
      const trees = (['ads', 'adh', 'ats'] as const).map((app, at) =>
        programs.simulate('--app', app, '--server-key', `${at + 1}`, '--root', `host.1.${app}`),
      );
      const targets = ['ads', 'adh', 'ats'].map(
        (app, at) => `[[targets]]\napp = "${app}"\nserver_key = "${at + 1}"\n`,
      );
      const config = programs.config({ metrics_http_enabled: false }, targets.join(''));
      const [exporter = '', ...filters] = text.trim().split(' | ');
      const args = exporter
        .split(' ')
        .slice(1)
        .map((each) => (each === 'exporter.toml' ? config : each));
      const { stdout } = programs.run('exporter', ...args);
      for (const tree of trees) tree.close();
      expect(stdout).to.include('# TYPE ats_process_pid gauge');
      const checked = spawnSync('sh', ['-c', filters.join(' | ')], {
        input: stdout,
        encoding: 'utf8',
      });
      expect(checked).to.include({ status: 0, stdout: '', stderr: '' });
    },
    '# snapshot': (text) => {
      const tree = programs.simulate('--app', 'ads', '--server-key', '82', '--root', 'host.1.ads');
      const settings = { server_keys: ['82'], metrics_http_enabled: false };
      const { stdout } = programs.run('exporter', '--config', programs.config(settings), '--once');
      tree.close();
      new PageOutput(text.split('\n').slice(0, -1)).check(stdout);
    },
  },
});
