import { expect } from 'chai';
import { FORMATS } from '#app/targets/formats.js';
import { testPrograms } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const programs = testPrograms();
/** The page has a block for each. */
const FORMATS_WITH_SETTINGS = [...FORMATS]
  .filter(([, { settings }]) => Object.keys(settings).length > 0)
  .map(([name]) => name);

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
    ...Object.fromEntries(FORMATS_WITH_SETTINGS.map((name) => [`format = "${name}"`, checkFormat])),
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
