import { expect } from 'chai';
import { testPrograms } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const programs = testPrograms();

/** Checks the settings of a format as a part of a target. */
function checkFormat(text: string): void {
  const file = programs.config({}, `[[targets]]\napp = "shop"\nserver_key = "shop"\n${text}`);
  const { stdout } = programs.run('exporter', '--config', file, '--check-config');
  expect(stdout).to.match(/^configuration is valid$/m);
}

readsPage('docs/configuration.md', {
  checks: {
    '# Context id': (text) => {
      const { stdout } = programs.run(
        'exporter',
        ...['--config', programs.write('all.toml', text)],
        ...['--license-file', programs.license, '--check-config'],
      );
      expect(stdout).to.match(/^configuration is valid$/m);
    },
    'format = "hsperfdata"': checkFormat,
    'format = "varnish"': checkFormat,
    '# the two feeds': (text) => {
      const file = programs.write('targets.conf', text);
      const { stdout } = programs.run(
        'exporter',
        ...['--targets-config', file, '--license-file', programs.license, '--check-config'],
      );
      expect(stdout).to.match(/^configuration is valid$/m);
    },
  },
});
