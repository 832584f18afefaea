import { PageOutput } from '../support/page-output.js';
import { readsPage } from '../support/page-reader.js';
import { testPrograms } from '../support/processes.js';

const programs = testPrograms();

readsPage('docs/stdout.md', {
  checks: {
    '# snapshot': (text) => {
      const tree = programs.simulate('--app', 'ads', '--server-key', '82', '--root', 'host.1.ads');
      const settings = { server_keys: ['82'], metrics_http_enabled: false };
      const { stdout } = programs.run('exporter', '--config', programs.config(settings), '--once');
      tree.close();
      new PageOutput(text.split('\n').slice(0, -1)).check(stdout);
    },
  },
});
