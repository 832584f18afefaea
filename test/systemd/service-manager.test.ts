// Tests the notifications to systemd, as in sd_notify(3).
import { expect } from 'chai';
import { ServiceManager } from '#app/systemd/service-manager.js';
import type { ServiceManagerOptions } from '#app/systemd/service-manager.js';
import { marbles } from '../support/marbles.js';

/** Creates a manager, and records its messages, their address, and its warnings. */
function recordedManager(
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
  it('notifies systemd of readiness, of status changes and of the stop', () => {
    const { manager, messages } = recordedManager(AT);
    manager.ready();
    manager.status('1 of 2 targets ready');
    manager.stopping();
    expect(messages).to.deep.equal([
      '/run/n: READY=1',
      '/run/n: STATUS=1 of 2 targets ready',
      '/run/n: STOPPING=1',
    ]);
  });

  it('notifies systemd of the start of a reload, with its time, and of its end', () => {
    const { manager, messages } = recordedManager(AT);
    manager.ready();
    messages.length = 0;
    expect(manager.reloading(() => messages.push('reload'))).to.equal(2);
    expect(messages).to.deep.equal([
      '/run/n: RELOADING=1\nMONOTONIC_USEC=12345',
      'reload',
      '/run/n: READY=1',
    ]);
  });

  it('notifies systemd of readiness after a failed reload', () => {
    const { manager, messages } = recordedManager(AT);
    manager.ready();
    const failing = () => {
      throw new Error('why');
    };
    expect(() => manager.reloading(failing)).to.throw('why');
    expect(messages.at(-1)).to.equal('/run/n: READY=1');
  });

  it('does not notify systemd of readiness after a reload during the start', () => {
    const { manager, messages } = recordedManager(AT);
    manager.reloading(() => undefined);
    expect(messages).to.deep.equal([]);
  });

  it('sends nothing without NOTIFY_SOCKET', () => {
    const { manager, messages } = recordedManager({ WATCHDOG_USEC: '1000' });
    manager.ready();
    manager.reloading(() => undefined);
    manager.stopping();
    expect([manager.isListening, messages]).to.deep.equal([false, []]);
  });

  it('warns once when systemd is unreachable, and continues', () => {
    const { manager, warnings } = recordedManager(AT, { send: () => 111 });
    manager.ready();
    manager.stopping();
    expect(warnings).to.deep.equal(['systemd cannot be reached at /run/n: errno 111']);
  });

  it(
    'sends a watchdog notification twice per timeout',
    marbles(({ expectObservable, flush }) => {
      const { manager, messages } = recordedManager({
        ...AT,
        WATCHDOG_USEC: '10000',
        WATCHDOG_PID: '7',
      });
      expectObservable(manager.watchdog(), '---------------!').toBe('');
      flush();
      expect(messages).to.deep.equal(['/run/n: WATCHDOG=1', '/run/n: WATCHDOG=1']);
    }),
  );

  it(
    'sends a watchdog notification at least every 30 s',
    marbles(({ expectObservable, flush }) => {
      const { manager, messages } = recordedManager({ ...AT, WATCHDOG_USEC: '9000000000000000' });
      expectObservable(manager.watchdog(), '61s !').toBe('');
      flush();
      expect(messages).to.have.length(2);
    }),
  );

  for (const [what, environment] of [
    ['no timeout', AT],
    ['a timeout of 0', { ...AT, WATCHDOG_USEC: '0' }],
    ['a timeout that is not a number', { ...AT, WATCHDOG_USEC: '1e3' }],
    ['a timeout for another process', { ...AT, WATCHDOG_USEC: '10000', WATCHDOG_PID: '8' }],
    ['a timeout but no address', { WATCHDOG_USEC: '10000' }],
  ] as const)
    it(
      `sends no watchdog notification with ${what}`,
      marbles(({ expectObservable }) => {
        expectObservable(recordedManager(environment).manager.watchdog()).toBe('|');
      }),
    );
});
