import { PageOutput } from '../support/page-output.js';
import { readsPage } from '../support/page-reader.js';
import { theatre } from '../support/processes.js';

const stage = theatre();

readsPage('docs/stdout.md', {
  checks: {
    '# snapshot': (text) => {
      const tree = stage.simulate('--app', 'ads', '--server-key', '82', '--root', 'host.1.ads');
      const settings = { server_keys: ['82'], metrics_http_enabled: false };
      const { stdout } = stage.run('exporter', '--config', stage.config(settings), '--once');
      tree.close();
      new PageOutput(text.split('\n').slice(0, -1)).check(stdout);
    },
  },
});
