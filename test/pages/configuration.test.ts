import { expect } from 'chai';
import { testPrograms } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const programs = testPrograms();

/** Checks an excerpt of a configuration file. */
function checkPart(text: string): void {
  const file = programs.config({}, text);
  const { stdout } = programs.run('exporter', '--config', file, '--check-config');
  expect(stdout).to.match(/^configuration is valid$/m);
}

readsPage('docs/configuration.md', {
  checks: {
    '[[targets]]': checkPart,
    '[[metric_scopes]]': checkPart,
    '[discover]': checkPart,
    '# the two targets': (text) => {
      const file = programs.write('targets.conf', text);
      const { stdout } = programs.run(
        'exporter',
        ...['--targets-config', file, '--license-file', programs.license, '--check-config'],
      );
      expect(stdout).to.match(/^configuration is valid$/m);
    },
  },
});
