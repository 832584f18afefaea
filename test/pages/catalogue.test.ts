import { expect } from 'chai';
import { testPrograms } from '../support/processes.js';
import { readsPage } from '../support/page-reader.js';

const programs = testPrograms();
/** Fails unless the exporter accepts a table of targets without a warning. */
const isTaken = (tables: string): void => {
  const config = programs.config({}, tables);
  const { stdout, stderr } = programs.run('exporter', '--config', config, '--check-config');
  expect([stdout, stderr]).to.deep.equal(['configuration is valid\n', '']);
};

readsPage('docs/catalogue.md', {
  given: { 'shm_license issue --licensee T --days 1 --out license.json': /expires/ },
  checks: {
    '[[targets]]\napp = "shop"\nserver_key = "shop"\npath_labels': isTaken,
    '[[targets]]\napp = "ads"': isTaken,
  },
});
