// Tests what the environment states about the publication of the default registry.
import { expect } from 'chai';
import { optionsFrom, publishFromEnvironment } from '#app/native/publisher/metrics/environment.js';

describe('The environment', () => {
  const options = (key?: string, app?: string, isWorker = false) =>
    optionsFrom(
      {
        ...(key === undefined ? {} : { PROMETHEUS_SHM_SERVER_KEY: key }),
        ...(app === undefined ? {} : { PROMETHEUS_SHM_APP: app }),
      },
      isWorker,
    );

  it('names the server key, and the application', () => {
    expect(options('shop-1', 'shop')).to.deep.equal({ serverKey: 'shop-1', app: 'shop' });
  });

  it('names the application by the server key, with _ for - and ., if it names no other', () => {
    const expected = { serverKey: 'shop-1.a', app: 'shop_1_a' };
    expect(options('shop-1.a')).to.deep.equal(expected);
    expect(options('shop-1.a', '')).to.deep.equal(expected);
  });

  it('names the application by the server key, also if this begins with a digit or has more than 60 characters', () => {
    expect(options('82')).to.deep.equal({ serverKey: '82', app: 'app_82' });
    expect(options('_a')?.app).to.equal('app__a');
    expect(options('1'.repeat(64))?.app).to.equal(`app_${'1'.repeat(60)}`);
  });

  it('names a server key to which a worker adds its pid, unless the key has it already', () => {
    expect(options('shop', undefined, true)).to.deep.equal({
      serverKey: 'shop-{pid}',
      app: 'shop',
    });
    for (const isWorker of [false, true])
      expect(options('shop_{pid}.v1', undefined, isWorker)).to.deep.equal({
        serverKey: 'shop_{pid}.v1',
        app: 'shop_v1',
      });
  });

  it('names no application by a server key that is only the pid, and one line on stderr says so', () => {
    const lines: unknown[] = [];
    const { error } = console;
    console.error = (line) => void lines.push(line);
    try {
      publishFromEnvironment({ PROMETHEUS_SHM_SERVER_KEY: '{pid}' });
    } finally {
      console.error = error;
    }
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.contain(
      'PROMETHEUS_SHM_APP: found nothing, and the server key has no name',
    );
  });

  it('publishes nothing without a server key', () => {
    expect([options(), options('')]).to.deep.equal([undefined, undefined]);
  });
});
