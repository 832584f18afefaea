// Tests the programs as systemd services. A socket of the test takes the place of systemd's.
import { expect } from 'chai';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';

/** Listens on a UNIX datagram socket, says so, and then prints each message on a line. */
const LISTENER = `
import socket, sys
address = sys.argv[1]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind('\\0' + address[1:] if address[0] == '@' else address)
print('listening', flush=True)
while True:
    print(listener.recv(4096).decode().replace('\\n', ' '), flush=True)
`;

describe('the exporter as a systemd service', function () {
  this.slow(5000);
  const programs = testPrograms();
  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '3'));

  /**
   * Starts a listener. Returns it, and the beginning of a command line that makes a program notify the
   * listener.
   */
  async function systemd(address: string, environment: readonly string[] = []) {
    const listener = programs.command(['python3', '-c', LISTENER, address]);
    await waitFor('it listens', () => /listening/.exec(listener.stdout) ?? undefined);
    return { listener, under: ['env', `NOTIFY_SOCKET=${address}`, ...environment] };
  }
  const messages = ({ stdout }: Running): readonly string[] =>
    stdout
      .split('\n')
      .slice(1, -1)
      .filter((message) => message !== 'WATCHDOG=1');
  const heard = (listener: Running, pattern: RegExp) =>
    waitFor(pattern.source, () => pattern.exec(listener.stdout) ?? undefined);

  const addresses = [
    ['a path', () => programs.path('notify')],
    ['an abstract name', () => `@${programs.contextId}`],
  ] as const;
  for (const [kind, address] of addresses)
    it(`notifies systemd of readiness, status, reloads and its end through a socket with ${kind}`, async () => {
      const { listener, under } = await systemd(address());
      const config = programs.config({ app: 'ads', server_keys: ['82'] });
      const exporter = programs.start('exporter', ['--config', config], { under });
      await heard(listener, /STATUS=1 of 1 target ready/);
      expect(exporter.stderr).to.match(/metrics at/);
      exporter.signal('SIGHUP');
      await heard(listener, /RELOADING=1[^]*READY=1/);
      expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
      await heard(listener, /STOPPING=1/);

      const states = messages(listener).filter((message) => !message.startsWith('STATUS='));
      expect(states[1]).to.match(/^RELOADING=1 MONOTONIC_USEC=\d+$/);
      const [moment = ''] = /\d+$/.exec(states[1] ?? '') ?? [];
      const agoUs = process.hrtime.bigint() / 1000n - BigInt(moment);
      expect(Number(agoUs)).to.be.within(0, 60_000_000);
      expect([states[0], ...states.slice(2)]).to.deep.equal(['READY=1', 'READY=1', 'STOPPING=1']);
      await listener.stop();
    });

  it('sends watchdog messages while its process runs, but not while its process is stopped', async () => {
    const life = ['WATCHDOG_USEC=100000'];
    const { listener, under } = await systemd(programs.path('life'), life);
    const config = programs.config({ app: 'ads', server_keys: ['82'] });
    const exporter = programs.start('exporter', ['--config', config], { under });
    const signs = () => listener.stdout.match(/WATCHDOG=1/g)?.length ?? 0;
    await waitFor('ten signs', () => (signs() >= 10 ? true : undefined));
    exporter.signal('SIGSTOP');
    const last = await waitFor('silence', async () => {
      const before = signs();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return signs() === before ? before : undefined;
    });
    exporter.signal('SIGCONT');
    await waitFor('a sign again', () => (signs() > last ? true : undefined));
    await exporter.stop();
    await listener.stop();
  });

  it('notifies systemd of readiness even if it writes to stdout', async () => {
    const { listener, under } = await systemd(programs.path('stdout'));
    const settings = { app: 'ads', server_keys: ['82'], metrics_http_enabled: false };
    const exporter = programs.start('exporter', ['--config', programs.config(settings)], { under });
    await heard(listener, /READY=1/);
    await exporter.stop();
    await listener.stop();
  });

  it('works normally if no process reads the socket of systemd', async () => {
    const under = ['env', `NOTIFY_SOCKET=${programs.path('nobody')}`];
    const config = programs.config({ app: 'ads', server_keys: ['82'] });
    const exporter = programs.start('exporter', ['--config', config], { under });
    await exporter.line(/warning systemd cannot be reached at \S+nobody: errno 2/);
    await exporter.line(/ ready: /);
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
  });
});
