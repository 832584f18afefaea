import { expect } from 'chai';
import { readsPage } from '../support/page-reader.js';
import { theatre } from '../support/processes.js';

const stage = theatre();

readsPage('docs/formats.md', {
  checks: {
    '[[targets]]': (text) => {
      const file = stage.config({}, text);
      const { stdout } = stage.run('exporter', '--config', file, '--check-config');
      expect(stdout).to.equal('configuration is valid\n');
    },
  },
  unrun: { '# /etc/systemd': 'systemd reads it when the machine starts a service' },
});
