// What systemd hears, and when: sd_notify(3).
import { expect } from 'chai';
import { ServiceManager } from '#app/systemd/service-manager.js';
import type { ServiceManagerOptions } from '#app/systemd/service-manager.js';
import { marbles } from '../support/marbles.js';

/** A manager with this environment, and what it was told at which address. */
function told(
  environment: Readonly<Record<string, string>>,
  more: Partial<ServiceManagerOptions> = {},
) {
  const messages: string[] = [];
  const warnings: string[] = [];
  const manager = new ServiceManager({
    environment,
    pid: 7,
    send: (address, text) => {
      messages.push(`${address}: ${text}`);
      return 0;
    },
    monotonicUs: () => 12_345n,
    warn: (message) => warnings.push(message),
    ...more,
  });
  return { manager, messages, warnings };
}
const AT = { NOTIFY_SOCKET: '/run/n' };

describe('ServiceManager', () => {
  it('tells when the process is ready, what it does, and when it stops', () => {
    const { manager, messages } = told(AT);
    manager.ready();
    manager.status('1 of 2 targets ready');
    manager.stopping();
    expect(messages).to.deep.equal([
      '/run/n: READY=1',
      '/run/n: STATUS=1 of 2 targets ready',
      '/run/n: STOPPING=1',
    ]);
  });

  it('tells when a reload begins, at which moment, and when it is over', () => {
    const { manager, messages } = told(AT);
    manager.ready();
    messages.length = 0;
    expect(manager.reloading(() => messages.push('reload'))).to.equal(2);
    expect(messages).to.deep.equal([
      '/run/n: RELOADING=1\nMONOTONIC_USEC=12345',
      'reload',
      '/run/n: READY=1',
    ]);
  });

  it('is ready again after a reload that failed', () => {
    const { manager, messages } = told(AT);
    manager.ready();
    const failing = () => {
      throw new Error('why');
    };
    expect(() => manager.reloading(failing)).to.throw('why');
    expect(messages.at(-1)).to.equal('/run/n: READY=1');
  });

  it('does not call a start ready because of a reload', () => {
    const { manager, messages } = told(AT);
    manager.reloading(() => undefined);
    expect(messages).to.deep.equal([]);
  });

  it('tells nothing when nobody asks', () => {
    const { manager, messages } = told({ WATCHDOG_USEC: '1000' });
    manager.ready();
    manager.reloading(() => undefined);
    manager.stopping();
    expect([manager.isListening, messages]).to.deep.equal([false, []]);
  });

  it('warns once when systemd cannot be reached, and goes on', () => {
    const { manager, warnings } = told(AT, { send: () => 111 });
    manager.ready();
    manager.stopping();
    expect(warnings).to.deep.equal(['systemd cannot be reached at /run/n: errno 111']);
  });

  it(
    'gives a sign of life twice in the time that is allowed',
    marbles(({ expectObservable, flush }) => {
      const { manager, messages } = told({ ...AT, WATCHDOG_USEC: '10000', WATCHDOG_PID: '7' });
      expectObservable(manager.watchdog(), '---------------!').toBe('');
      flush();
      expect(messages).to.deep.equal(['/run/n: WATCHDOG=1', '/run/n: WATCHDOG=1']);
    }),
  );

  it(
    'gives one each half a minute at the least',
    marbles(({ expectObservable, flush }) => {
      const { manager, messages } = told({ ...AT, WATCHDOG_USEC: '9000000000000000' });
      expectObservable(manager.watchdog(), '61s !').toBe('');
      flush();
      expect(messages).to.have.length(2);
    }),
  );

  for (const [what, environment] of [
    ['no limit', AT],
    ['a limit of nothing', { ...AT, WATCHDOG_USEC: '0' }],
    ['what is no number', { ...AT, WATCHDOG_USEC: '1e3' }],
    ['a limit for another process', { ...AT, WATCHDOG_USEC: '10000', WATCHDOG_PID: '8' }],
    ['a limit and no address', { WATCHDOG_USEC: '10000' }],
  ] as const)
    it(
      `gives no sign of life for ${what}`,
      marbles(({ expectObservable }) => {
        expectObservable(told(environment).manager.watchdog()).toBe('|');
      }),
    );
});
