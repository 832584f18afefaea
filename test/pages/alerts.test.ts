import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

const LICENSE = 'license.json';

readsPage('docs/alerts.md', {
  needs: ['curl'],
  words: async () => ({ ...otherKeys('82'), ...(await otherPorts('9464')) }),
  given: {
    'shm_simulator --app ads --server-key 82': /ready/,
    [`shm_license issue --licensee T --days 1 --out ${LICENSE}`]: /expires/,
    [`shm_exporter --app ads --server-key 82 --license-file ${LICENSE} --enable-metrics-http --metrics-port 9464`]:
      /ready: \d+ objects/,
  },
  unrun: { '$ PID=$(systemctl': 'the exporter is no service of systemd here' },
});
