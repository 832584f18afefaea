// The listen addresses: from settings, and from systemd's sockets.
import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createSecureContext } from 'node:tls';
import { loadConfig } from '#app/config/resolve.js';
import type { Settings } from '#app/config/settings.js';
import {
  connectionLimit,
  exposureWarnings,
  listenAddresses,
  openFilesLimit,
} from '#app/exporter/listeners.js';
import { planTargets } from '#app/exporter/plan.js';
import { shown } from '#app/document/document.js';
import { hostAndPort, listenAddress } from '#app/rules/formats.js';
import { boundAuthority, listenFault } from '#app/sinks/http/http-server.js';
import { activatedSockets } from '#app/systemd/service-manager.js';
import type { WebConfig } from '#app/web-config/web-config.js';
import { readyPage, scrape } from '../end-to-end/page.js';
import { faultMessage } from '../support/fault-message.js';
import { needsPrograms } from '../support/needs.js';
import { testPrograms } from '../support/processes.js';

const { settings } = loadConfig({ overrides: {} });

describe('the listen addresses', () => {
  it('are by default the one address that the specification defines (spec 4)', () =>
    expect(listenAddresses(settings, [])).to.deep.equal([{ host: '0.0.0.0', port: 9464 }]));

  it('are the addresses of metrics_listen_addresses if this key is set', () =>
    expect(
      listenAddresses({ ...settings, metricsListenAddresses: [':1', '[::1]:2'] }, []),
    ).to.deep.equal([
      { host: undefined, port: 1 },
      { host: '::1', port: 2 },
    ]));

  it('are the sockets from systemd, and the start fails if systemd passes no socket', () => {
    const activated = { ...settings, metricsSystemdSocket: true };
    expect(listenAddresses(activated, [3, 4])).to.deep.equal([{ fd: 3 }, { fd: 4 }]);
    expect(faultMessage('LISTENER_FAILED', () => listenAddresses(activated, []))).to.contain(
      'systemd passed no socket',
    );
  });
});

describe('the listen address', () => {
  interface Parts {
    readonly host: string | undefined;
    readonly port: number;
  }
  /** The expected parts of an address, or the message about an invalid one. */
  const table: readonly (readonly [text: string, expected: Parts | string])[] = [
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    [':0', { host: undefined, port: 0 }],
    ['[::]:65535', { host: '::', port: 65535 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['exporter-1.example.com:80', { host: 'exporter-1.example.com', port: 80 }],
    ['9464', 'no colon'],
    ['127.0.0.1', 'no port'],
    ['::1:80', 'no brackets around an IPv6 address'],
    ['[1.2.3.4]:80', 'brackets around an IPv4 address'],
    ['[x]:80', 'brackets around a name'],
    ['a:65536', 'a port above 65535'],
    ['a b:80', 'a blank in the name'],
    ['http://a:80', 'a URL'],
    ['', 'an empty string'],
    ['[::ffff:127.0.0.1]:80', { host: '::ffff:127.0.0.1', port: 80 }],
    ['[fe80::1%eth0]:80', { host: 'fe80::1%eth0', port: 80 }],
    ['[FEBF::a%br-lan.100]:80', { host: 'FEBF::a%br-lan.100', port: 80 }],
    ['[fe80::1.2.3.4%2]:80', { host: 'fe80::1.2.3.4%2', port: 80 }],
    [`[fe80::1%${'x'.repeat(15)}]:80`, { host: `fe80::1%${'x'.repeat(15)}`, port: 80 }],
    [`[fe80::1%${'x'.repeat(16)}]:80`, 'a zone of 16 characters'],
    ['[fe80::1]:80', 'a link-local address without a zone'],
    ['[fe80::1%]:80', 'an empty zone'],
    ['[fe80::1%br_x]:80', 'an underscore in the zone'],
    ['[fe80::1%a/b]:80', 'a slash in the zone'],
    ['[fe80::1%a b]:80', 'a blank in the zone'],
    ['[fe80::1%a%b]:80', 'two zones'],
    ['[::1%lo]:80', 'a zone of the loopback address'],
    ['[fec0::1%eth0]:80', 'a zone of an address that is not link-local'],
    ['127.0.0.1%lo:80', 'a zone of an IPv4 address'],
    ['fe80::1%eth0:80', 'no brackets around an address with a zone'],
    ['[fe80::1%eth0]', 'no port after a zone'],
  ];
  for (const [text, expected] of table)
    if (typeof expected === 'string')
      it(`"${text}" is invalid: ${expected}`, () => expect(hostAndPort(text)).to.equal(undefined));
    else
      it(`"${text}" means ${expected.host ?? 'all addresses'} and port ${expected.port}`, () =>
        expect(hostAndPort(text)).to.deep.equal(expected));

  /** Invalid addresses, and what the message adds after the address. */
  const guesses = [
    ['[fe80::1]:80', ' (a zone such as %eth0 is missing: "[fe80::1%eth0]:80")'],
    ['[FE80::1%]:80', ' (a zone such as %eth0 is missing: "[FE80::1%eth0]:80")'],
    ['fe80::1:80', ' (a zone such as %eth0 is missing: "[fe80::1%eth0]:80")'],
    [
      '[fe80::1%br_x]:80',
      ' (the zone is the name of an interface: 1 to 15 letters, digits, "." and "-")',
    ],
    ['[::1%lo]:80', ' (only link-local addresses, fe80::/10, have a zone)'],
    ['fe80::1%eth0:80', ' (did you mean "[fe80::1%eth0]:80"?)'],
    ['::1:80', ' (did you mean "[::1]:80"?)'],
    ['[fe80::1%eth0]', ' (the port is missing)'],
    ['127.0.0.1', ' (the port is missing)'],
    ['[x]:80', ''],
    [':'.repeat(9000), ''],
  ] as const;
  for (const [text, guess] of guesses)
    it(`"${text.slice(0, 30)}" is refused${guess}`, () => {
      const said: string[] = [];
      listenAddress.read(text, ['a'], (_, sentence) => said.push(sentence));
      const start = `found ${shown(text)}${guess}, allowed: an address such as "127.0.0.1:9464"`;
      expect(said[0]?.startsWith(start), said[0]).to.equal(true);
    });

  it('is written in a URL with %25 before the zone', () => {
    const bound = (address: string) => ({ address, family: 'IPv6', port: 80 });
    expect(boundAuthority({ host: 'fe80::1%lo', port: 0 }, bound('fe80::1%lo'))).to.equal(
      '[fe80::1%25lo]:80',
    );
    expect(boundAuthority({ fd: 3 }, bound('fe80::1%lo'))).to.equal('[fe80::1%25lo]:80');
    expect(boundAuthority({ fd: 3 }, bound('::1'))).to.equal('[::1]:80');
  });

  it('is named with its zone in the error if no interface has this zone', () => {
    const invalid = Object.assign(new Error('listen EINVAL'), { code: 'EINVAL' });
    expect(listenFault({ host: 'fe80::1%7', port: 80 }, invalid).message).to.equal(
      'Cannot listen on [fe80::1%7]:80: listen EINVAL; no interface has the name "7"; "ip link" lists the interfaces',
    );
    expect(listenFault({ host: '::1', port: 80 }, invalid).message).to.match(/: listen EINVAL$/);
  });
});

describe('the sockets from systemd', () => {
  it('begin at descriptor 3 if LISTEN_PID is the PID of the process', () => {
    expect(activatedSockets({ LISTEN_PID: '7', LISTEN_FDS: '2' }, 7)).to.deep.equal([3, 4]);
    expect(activatedSockets({ LISTEN_PID: '8', LISTEN_FDS: '2' }, 7)).to.deep.equal([]);
    expect(activatedSockets({ LISTEN_PID: '7', LISTEN_FDS: 'x' }, 7)).to.deep.equal([]);
    expect(activatedSockets({}, 7)).to.deep.equal([]);
  });
});

// If the limit of open files is low, targets get descriptors first, and connections get the rest.
describe('the limit of open files', function () {
  this.slow(5000);
  const programs = testPrograms();

  it('is read from the process limits, and infinite if it is missing there', () => {
    const limits =
      'Limit                     Soft Limit           Hard Limit           Units\n' +
      'Max open files            1024                 4096                 files\n';
    expect([limits, ''].map(openFilesLimit)).to.deep.equal([1024, Infinity]);
  });

  it('allows the configured number of connections if it is high, and fewer if it is low', () => {
    expect(connectionLimit(512, 1024, 5, 2)).to.deep.equal({ connections: 512, warning: '' });
    expect(connectionLimit(512, 256, 5, 2)).to.include({ connections: 190 });
    expect(connectionLimit(512, 64, 25, 2)).to.include({ connections: 8 });
    expect(connectionLimit(4, 64, 25, 2)).to.include({ connections: 4 });
  });

  it('causes a warning if it is low, and then idle connections do not block probes', async function () {
    needsPrograms(this, 'prlimit');
    programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '3');
    const config = programs.config({ app: 'ads', server_keys: ['82'] });
    const exporter = programs.start('exporter', ['--config', config], {
      under: ['prlimit', '--nofile=64:64'],
    });
    await exporter.line(
      / warning the process may open 64 files .*; the exporter keeps at most 30 connections$/m,
    );
    const url = await exporter.url();
    await readyPage(url);
    const { hostname, port } = new URL(url);
    const silent = Array.from({ length: 80 }, () => connect(Number(port), hostname));
    for (const each of silent) each.on('error', () => undefined);
    await Promise.all(silent.map((each) => once(each, 'connect')));
    for (let probe = 0; probe < 6; probe++)
      expect((await scrape(new URL('/-/healthy', url).href)).status).to.equal(200);
    for (const each of silent) each.destroy();
    expect((await exporter.stop()).status).to.equal(0);
  });
});

// There is a warning if personal data would be served to everybody.
describe('warnings about exposed metrics', () => {
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
    rate: { interval: 0, burst: 1 },
    files: [],
  };
  const tls = {
    options: {},
    context: createSecureContext(),
    allowedSans: [],
    expiryMs: 0,
    files: [],
  };

  it('name the exposed metrics and the settings that protect them', () =>
    expect(warnings({}))
      .to.have.length(1)
      .and.satisfy(
        ([text]: readonly string[]) =>
          text?.startsWith('ads_mount_info: personal data') === true &&
          text.includes('metrics_listen_addresses (--web.listen-address)') &&
          text.includes('web_config_file (--web.config.file)'),
      ));

  it('name each application that exposes strings without a catalogue row', () => {
    const [first, second, ...rest] = warnings({ showUncatalogued: true });
    expect(first).to.contain('ads_mount_info: personal data');
    expect(second).to.match(
      /^string values of ads that no catalogue row reads \(show_uncatalogued\): perhaps personal/,
    );
    expect(rest).to.deep.equal([]);
    expect(warnings({ showUncatalogued: true, metricsBindAddress: '127.0.0.1' })).to.deep.equal([]);
    expect(warnings({ showUncatalogued: true, app: 'shop' })).to.deep.equal([]);
  });

  const loud: readonly (readonly [what: string, settings: Partial<Settings>, web?: WebConfig])[] = [
    ['a network address', { metricsBindAddress: '192.0.2.1' }],
    ['a listener on all addresses', { metricsListenAddresses: [':9464'] }],
    [
      'a public address beside a local address',
      { metricsListenAddresses: ['127.0.0.1:1', '[::]:2'] },
    ],
    ['a web configuration without TLS or passwords', {}, open],
    [
      'TLS without client certificates',
      {},
      { ...open, tls: { ...tls, clientAuth: 'NoClientCert' } },
    ],
  ];
  for (const [what, settings, web] of loud)
    it(`are given for ${what}`, () => expect(warnings(settings, web)).to.have.length(1));

  const quiet: typeof loud = [
    ['output to stdout', { metricsHttpEnabled: false }],
    ['the loopback address', { metricsBindAddress: '127.0.0.1' }],
    ['local addresses', { metricsListenAddresses: ['[::1]:1', 'localhost:2', '127.0.0.9:3'] }],
    ['sockets of systemd', { metricsSystemdSocket: true }],
    ['an application without personal data', { app: 'adh' }],
    ['an application without a catalogue', { app: 'shop' }],
    ['classes without personal data', { classes: ['process'] }],
    [
      'a web configuration that requires passwords',
      {},
      { ...open, users: new Map([['a', 'hash']]) },
    ],
    [
      'a web configuration that verifies client certificates',
      {},
      { ...open, tls: { ...tls, clientAuth: 'RequireAndVerifyClientCert' } },
    ],
  ];
  for (const [what, settings, web] of quiet)
    it(`are not given for ${what}`, () => expect(warnings(settings, web)).to.deep.equal([]));
});
