// Which sink the settings choose, and that it is made as they say.
import { connect } from 'node:net';
import { expect } from 'chai';
import { NEVER, of, take } from 'rxjs';
import type { Subscription } from 'rxjs';
import { loadConfig } from '#app/config/resolve.js';
import { ScopeRegistry } from '#app/exporter/scope-registry.js';
import { SINKS, chosenSink } from '#app/exporter/sinks.js';
import type { Target } from '#app/model.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { eventually } from '../support/eventually.js';
import { FakeTarget } from '../support/fake-target.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { serviceFacts } from '../support/service-facts.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('chosenSink', () => {
  const folder = temporaryFolder();
  const written: string[] = [];
  let running: Subscription | undefined;
  beforeEach(() => (written.length = 0));
  afterEach(() => running?.unsubscribe());

  const sinkOf = (toml: string, selfMetrics = new SelfMetrics()) =>
    chosenSink(SINKS, {
      settings: loadConfig({ configFile: folder.write('c.toml', toml), overrides: {} }).settings,
      scopes: new ScopeRegistry(),
      selfMetrics,
      service: () => serviceFacts,
      unixMs: () => 0,
      stdout:
        () =>
        ({ pieces, release }) => {
          written.push(Buffer.concat([...pieces]).toString());
          release();
          return of(1);
        },
      sockets: [],
      isOnce: false,
      reload: () => [],
      log: () => undefined,
    });
  /** Opens HTTP with these limits; returns what sends bytes and shows what came back. */
  const http = async (limits: string, target: Target) => {
    const toml = `metrics_http_enabled = true\nmetrics_bind_address = "127.0.0.1"\nmetrics_port = 0\n`;
    const { seen, subscription } = follow(sinkOf(toml + limits)({ targets: [target] }));
    running = subscription;
    await eventually('it is open', () => seen.length > 0);
    const [opened] = seen;
    const port = opened?.kind === 'opened' ? Number(new URL(opened.where).port) : 0;
    return (bytes: string) => {
      const client = { text: '', isOver: false };
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
      socket.on('data', (data) => (client.text += data.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => (client.isOver = true));
      return client;
    };
  };
  const GET = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
  const silent = Object.assign(new FakeTarget(), { demand: () => NEVER });

  it('is HTTP, with a bound on scrapes and on the time of a response', async () => {
    const limits = 'http_max_scrapes = 2\nhttp_response_timeout_seconds = 3\n';
    const send = await http(limits, silent);
    const held = [send(GET), send(GET)];
    const third = send(GET);
    await eventually('one of them is refused', () =>
      [...held, third].some(({ text }) => text.includes('too many scrapes at once')),
    );
    await eventually(
      'the others are cut',
      () => [...held, third].filter(({ text, isOver }) => isOver && text === '').length === 2,
    );
  });

  it('is HTTP, with a bound on connections and on the time of a request', async () => {
    const limits = 'http_max_connections = 2\nhttp_header_timeout_seconds = 1\n';
    const send = await http(limits, new FakeTarget());
    const slow = Array.from({ length: 3 }, () => send('GET / HTTP/1.1\r\nX: '));
    await eventually('all are over', () => slow.every(({ isOver }) => isOver));
    const answers = slow.map(({ text }) => text.slice(0, 12)).sort();
    expect(answers).to.deep.equal(['', 'HTTP/1.1 408', 'HTTP/1.1 408']);
  });

  for (const [format, start] of [
    ['text', '# snapshot app=ads'],
    ['json', '{"time":'],
  ] as const)
    it(`is stdout otherwise, as ${format} at each interval`, () => {
      const toml = `stdout_format = "${format}"\nmetrics_interval_seconds = 3\n`;
      const opened = { kind: 'opened', where: 'stdout' };
      const served = { kind: 'served', bytes: 1, outcome: 'delivered' };
      marbles(({ expectObservable }) => {
        const printed$ = sinkOf(toml)({ targets: [new FakeTarget()] }).pipe(take(3));
        expectObservable(printed$).toBe('o 2999ms s 2999ms (s|)', { o: opened, s: served });
      })();
      expect(written).to.have.length(2);
      for (const document of written) expect(document.startsWith(start)).to.equal(true);
    });
});
