import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { tlsPath } from '../support/component-certificates.js';
import { readsPage } from '../support/page-reader.js';
import { testPrograms } from '../support/processes.js';

const programs = testPrograms();

/** Fails unless the exporter accepts a configuration without a warning. */
function checkTaken(config: string): void {
  const { stdout, stderr } = programs.run('exporter', '--config', config, '--check-config');
  expect({ stdout, stderr }).to.deep.equal({ stdout: 'configuration is valid\n', stderr: '' });
}

readsPage('docs/http.md', {
  checks: {
    'tls_server_config:': (text) => {
      const file = text
        .replace('/etc/shm_exporter/server.pem', tlsPath('component.cert.pem'))
        .replace('/etc/shm_exporter/server.key', tlsPath('component.key.pem'))
        .replace('/etc/shm_exporter/clients.pem', tlsPath('client-ca.cert.pem'))
        .replace('$2y$10$…', hashSync('a', 4));
      checkTaken(programs.config({ web_config_file: programs.write('web.yml', file) }));
    },
    'scrape_configs:': (text) => {
      const whole = readFileSync('deploy/prometheus/prometheus.yml', 'utf8');
      expect(whole.endsWith(text)).to.equal(true);
    },
    '[host_page]': (text) => {
      const file = programs.config({}, text);
      const { stdout } = programs.run('exporter', '--config', file, '--check-config');
      expect(stdout).to.match(/^configuration is valid$/m);
    },
    '[[metric_scopes]]': (text) => {
      const targets = ['ads', 'adh'].map(
        (app) => `[[targets]]\napp = "${app}"\nserver_key = "${app}"\n`,
      );
      checkTaken(programs.config({}, `${targets.join('')}${text}`));
    },
  },
});
