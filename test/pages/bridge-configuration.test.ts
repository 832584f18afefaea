import { expect } from 'chai';
import { testPrograms } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const programs = testPrograms();

readsPage('docs/bridge-configuration.md', {
  checks: {
    '[[components]]': (text) => {
      const file = programs.write('bridge.toml', text);
      const { stdout } = programs.run('bridge', '--config', file, '--check-config');
      expect(stdout).to.equal('configuration is valid\n');
    },
  },
});
