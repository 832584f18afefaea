import { expect } from 'chai';
import { theatre } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const stage = theatre();

readsPage('docs/bridge-configuration.md', {
  checks: {
    '# Context id': (text) => {
      const file = stage.write('bridge.toml', text);
      const { stdout } = stage.run('bridge', '--config', file, '--check-config');
      expect(stdout).to.equal('configuration is valid\n');
    },
  },
});
