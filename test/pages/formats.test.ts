import { expect } from 'chai';
import { readsPage } from '../support/page-reader.js';
import { testPrograms } from '../support/processes.js';

const programs = testPrograms();

readsPage('docs/formats.md', {
  checks: {
    '[[targets]]': (text) => {
      const file = programs.config({}, text);
      const { stdout } = programs.run('exporter', '--config', file, '--check-config');
      expect(stdout).to.equal('configuration is valid\n');
    },
  },
  unrun: { '# /etc/systemd': 'systemd reads it when the machine starts a service' },
});
