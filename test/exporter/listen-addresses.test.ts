// Where the listener listens: by settings, and on the sockets of systemd.
import { expect } from 'chai';
import { loadConfig } from '#app/config/resolve.js';
import { activatedSockets } from '#app/systemd/service-manager.js';
import { listenAddresses } from '#app/exporter/listeners.js';
import { hostAndPort } from '#app/rules/formats.js';
import { faultMessage } from '../support/fault-message.js';

const { settings } = loadConfig({ overrides: {} });

describe('listenAddresses', () => {
  it('are the one address of the specification by default (spec 4)', () =>
    expect(listenAddresses(settings, [])).to.deep.equal([{ host: '0.0.0.0', port: 9464 }]));

  it('are those of metrics_listen_addresses, if there are any', () =>
    expect(
      listenAddresses({ ...settings, metricsListenAddresses: [':1', '[::1]:2'] }, []),
    ).to.deep.equal([
      { host: undefined, port: 1 },
      { host: '::1', port: 2 },
    ]));

  it('are the sockets of systemd where it hands them over, and a fault where it does not', () => {
    const activated = { ...settings, metricsSystemdSocket: true };
    expect(listenAddresses(activated, [3, 4])).to.deep.equal([{ fd: 3 }, { fd: 4 }]);
    expect(faultMessage('LISTENER_FAILED', () => listenAddresses(activated, []))).to.contain(
      'systemd handed over no socket',
    );
  });
});

describe('hostAndPort', () => {
  const table: readonly (readonly [text: string, parts: object | undefined])[] = [
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    [':0', { host: undefined, port: 0 }],
    ['[::]:65535', { host: '::', port: 65535 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['exporter-1.example.com:80', { host: 'exporter-1.example.com', port: 80 }],
    ['9464', undefined],
    ['127.0.0.1', undefined],
    ['::1:80', undefined],
    ['[1.2.3.4]:80', undefined],
    ['[x]:80', undefined],
    ['a:65536', undefined],
    ['a b:80', undefined],
    ['http://a:80', undefined],
    ['', undefined],
  ];
  for (const [text, parts] of table)
    it(`${JSON.stringify(text)} is ${parts === undefined ? 'none' : JSON.stringify(parts)}`, () =>
      expect(hostAndPort(text)).to.deep.equal(parts));
});

describe('activatedSockets', () => {
  it('begin with descriptor 3, for the process that they are meant for', () => {
    expect(activatedSockets({ LISTEN_PID: '7', LISTEN_FDS: '2' }, 7)).to.deep.equal([3, 4]);
    expect(activatedSockets({ LISTEN_PID: '8', LISTEN_FDS: '2' }, 7)).to.deep.equal([]);
    expect(activatedSockets({ LISTEN_PID: '7', LISTEN_FDS: 'x' }, 7)).to.deep.equal([]);
    expect(activatedSockets({}, 7)).to.deep.equal([]);
  });
});
