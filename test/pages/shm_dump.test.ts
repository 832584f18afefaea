import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('docs/shm_dump.md', {
  needs: ['curl', 'jq'],
  given: {
    'shm_license issue --licensee T --days 1 --out license.json': /expires/,
    'shm_simulator --scenario test/pages/shop-tills.json --server-key shop': /ready/,
  },
  words: async () => {
    const { shop: key = '' } = otherKeys('shop');
    return {
      '--server-key shop': `--server-key ${key}`,
      'pool.shop': `pool.${key}`,
      'server_keys = ["shop"]': `server_keys = ["${key}"]`,
      ...(await otherPorts('9464')),
    };
  },
  stays: { '$ shm_exporter --config exporter.toml\n': /ready: \d+ objects/ },
  varies: [/(?<=generation )[0-9a-f]+/g, /(?<=pid )\d+, started .*/g],
});
