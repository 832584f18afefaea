import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('docs/bridge.md', {
  needs: ['curl'],
  words: async () => ({
    ...otherKeys('82'),
    ...(await otherPorts('8080', '9464')),
    // A command that takes the place of the editor.
    'vi try/ads.key': "printf 's3cret\\n' > try/ads.key",
  }),
  stays: {
    '$ dist/bin/shm_simulator.js': /ready/,
    '$ dist/bin/shm_bridge.js --config try/ads.toml\n': /received its tree/,
    '$ dist/bin/shm_exporter.js': /shm_bridge on \S+ ready/,
  },
  unrun: {
    'ADS ◀──': 'a picture',
    '$ prometheus': 'runs until it is ended: test/end-to-end/prometheus.test.ts does it',
    '$ openssl s_client': 'asks a component of another machine',
    '# useradd': 'needs root and systemd: test/end-to-end/systemd.test.ts does it',
  },
  varies: [
    /\d+ objects, \d+ variables/g,
    /\d+ bytes(?: over the wire)?|\d+ decompressed/g,
    /(?<=health_level |process_pid |start_time_seconds |"value":)\d+/g,
    /[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}/g,
    /root \S+\.1\.shm_bridge/g,
  ],
});
