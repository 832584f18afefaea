import { expect } from 'chai';
import { theatre } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const stage = theatre();

/** Checks the settings of a format as a part of a target. */
function checkFormat(text: string): void {
  const file = stage.config({}, `[[targets]]\napp = "shop"\nserver_key = "shop"\n${text}`);
  const { stdout } = stage.run('exporter', '--config', file, '--check-config');
  expect(stdout).to.match(/^configuration is valid$/m);
}

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
    'format = "hsperfdata"': checkFormat,
    'format = "varnish"': checkFormat,
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
