// Personal data that would be served to everybody is warned of.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import type { Settings } from '#app/config/settings.js';
import { exposureWarnings } from '#app/exporter/listeners.js';
import { planTargets } from '#app/exporter/plan.js';
import type { WebConfig } from '#app/web-config/web-config.js';

describe('exposureWarnings', () => {
  const config = loadConfig({ overrides: { metricsHttpEnabled: true } });
  const warnings = (settings: Partial<Settings>, web?: WebConfig) => {
    const all = { ...config.settings, ...settings };
    const targets = config.targets.map((target) => ({
      ...target,
      app: all.app,
      classes: all.classes,
      showUncatalogued: all.showUncatalogued,
    }));
    return exposureWarnings({ ...config, settings: all }, planTargets({ ...config, targets }), web);
  };
  const open: WebConfig = {
    tls: null,
    headers: {},
    users: new Map(),
    rate: { intervalMs: 0, burst: 1 },
    files: [],
  };
  const tls = { context: {}, allowedSans: [], expiryMs: 0, files: [] };

  it('name the metrics, and what helps', () =>
    expect(warnings({}))
      .to.have.length(1)
      .and.satisfy(
        ([text]: readonly string[]) =>
          text?.startsWith('ads_mount_info: personal data') === true &&
          text.includes('metrics_listen_addresses (--web.listen-address)') &&
          text.includes('web_config_file (--web.config.file)'),
      ));

  it('name the applications whose texts without a row are shown as well', () => {
    const [first, second, ...rest] = warnings({ showUncatalogued: true });
    expect(first).to.contain('ads_mount_info: personal data');
    expect(second).to.match(
      /^texts of ads that no row reads \(show_uncatalogued\): perhaps personal/,
    );
    expect(rest).to.deep.equal([]);
    expect(warnings({ showUncatalogued: true, metricsBindAddress: '127.0.0.1' })).to.deep.equal([]);
    expect(warnings({ showUncatalogued: true, app: 'shop' })).to.deep.equal([]);
  });

  const loud: readonly (readonly [what: string, settings: Partial<Settings>, web?: WebConfig])[] = [
    ['an address of the network', { metricsBindAddress: '192.0.2.1' }],
    ['all addresses', { metricsListenAddresses: [':9464'] }],
    ['one open address beside a local one', { metricsListenAddresses: ['127.0.0.1:1', '[::]:2'] }],
    ['a web configuration that asks nobody', {}, open],
    [
      'TLS without client certificates',
      {},
      { ...open, tls: { ...tls, clientAuth: 'NoClientCert' } },
    ],
  ];
  for (const [what, settings, web] of loud)
    it(`are given for ${what}`, () => expect(warnings(settings, web)).to.have.length(1));

  const quiet: typeof loud = [
    ['stdout', { metricsHttpEnabled: false }],
    ['the loopback address', { metricsBindAddress: '127.0.0.1' }],
    ['local addresses', { metricsListenAddresses: ['[::1]:1', 'localhost:2', '127.0.0.9:3'] }],
    ['sockets of systemd', { metricsSystemdSocket: true }],
    ['an application without such data', { app: 'adh' }],
    ['an application without a catalogue', { app: 'shop' }],
    ['other classes', { classes: ['process'] }],
    ['passwords', {}, { ...open, users: new Map([['a', 'hash']]) }],
    [
      'verified client certificates',
      {},
      { ...open, tls: { ...tls, clientAuth: 'RequireAndVerifyClientCert' } },
    ],
  ];
  for (const [what, settings, web] of quiet)
    it(`are not given for ${what}`, () => expect(warnings(settings, web)).to.deep.equal([]));
});
