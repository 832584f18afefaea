import { readsPage } from '../support/page-reader.js';
import { otherKeys, otherPorts } from './page-words.js';

readsPage('docs/tutorial.md', {
  needs: ['curl', 'pkill', 'prometheus', 'promtool'],
  words: async () => {
    const shop = otherKeys('shop')['shop'] ?? '';
    return {
      ...otherKeys('82'),
      ...(await otherPorts('9464', '9095')),
      'server_key="shop"': `server_key="${shop}"`,
      "serverKey: 'shop'": `serverKey: '${shop}'`,
      'server_key = "shop"': `server_key = "${shop}"`,
      'server_key=shop': `server_key=${shop}`,
      // Shorten Prometheus's intervals. The page sets longer ones, because its alerts call people.
      'scrape_interval: 15s': 'scrape_interval: 1s',
      'evaluation_interval: 15s': 'evaluation_interval: 1s',
      '- url:': '- refresh_interval: 1s\n        url:',
      'for: 1m': 'for: 1s',
    };
  },
  stays: {
    '$ dist/bin/shm_simulator.js': /ready/,
    '$ dist/bin/shm_exporter.js --config try/exporter.toml': /ready: \d+ objects/,
    '$ prometheus': /Server is ready/,
    '$ node try/shop.mjs': /published/,
  },
  varies: [
    /(?<=health_level |tills.front"} )\d+/g,
    /=> \d+ @\[[\d.]+\]/g,
    /\d+ objects, \d+ variables/g,
  ],
});
