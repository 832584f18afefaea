import { expect } from 'chai';
import { theatre } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const stage = theatre();

readsPage('docs/configuration.md', {
  checks: {
    '# Context id': (text) => {
      const { stdout } = stage.run(
        'exporter',
        ...['--config', stage.write('all.toml', text)],
        ...['--license-file', stage.license, '--check-config'],
      );
      expect(stdout).to.match(/^configuration is valid$/m);
    },
    '# the two feeds': (text) => {
      const file = stage.write('targets.conf', text);
      const { stdout } = stage.run(
        'exporter',
        ...['--targets-config', file, '--license-file', stage.license, '--check-config'],
      );
      expect(stdout).to.match(/^configuration is valid$/m);
    },
  },
});
