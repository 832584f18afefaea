// Tests which sink the settings select, and its options.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { NEVER, of, take } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { Overrides } from '#app/config/arguments.js';
import { loadConfig } from '#app/config/resolve.js';
import { ScopeRegistry } from '#app/exporter/scopes.js';
import { SINKS, chosenSink } from '#app/exporter/sinks.js';
import type { Target, TargetEvent } from '#app/model.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { eventually } from '../support/eventually.js';
import { FakeTarget } from '../support/fake-target.js';
import { faultMessage } from '../support/fault-message.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { serviceFacts } from '../support/service-facts.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the selected sink', () => {
  const folder = temporaryFolder();
  const written: string[] = [];
  const logged: TargetEvent[] = [];
  let running: Subscription | undefined;
  beforeEach(() => {
    written.length = 0;
    logged.length = 0;
  });
  afterEach(() => running?.unsubscribe());

  const sinkOf = (toml: string, overrides: Overrides = {}) => {
    const { settings, nameOf } = loadConfig({
      configFile: folder.write('c.toml', toml),
      overrides,
    });
    return chosenSink(SINKS, {
      ...{ settings, nameOf },
      scopes: new ScopeRegistry(),
      hasHostPage: () => false,
      selfMetrics: new SelfMetrics(),
      service: () => serviceFacts,
      unixMs: () => 0,
      stdout:
        () =>
        ({ buffers, release }) => {
          written.push(Buffer.concat([...buffers]).toString());
          release();
          return of(1);
        },
      sockets: [],
      isOnce: false,
      reload: () => ({ kind: 'accepted', notApplied: [] }),
      log: (event) => logged.push(event),
    });
  };
  it('counts the series omitted from merged documents, and logs each change of the count', async () => {
    const gauge = new FakeTarget('a');
    const counter = new FakeTarget('b');
    for (const each of [gauge, counter]) {
      each.text = `${gauge.metadata.name} 1\n`;
      each.labels = { app: each.app, server_key: '82' };
    }
    const registry = { targets: [gauge] };
    const toml = 'stdout_format = "merged"\nmetrics_interval_seconds = 1\n';
    running = sinkOf(toml)(registry).subscribe();
    const documentWith = async (clashing: number) => {
      const line = `\nshm_exporter_merged_clashing_metrics ${clashing}\n`;
      const before = written.length;
      await eventually('a document counts them', () =>
        written.slice(before).some((text) => text.includes(line)),
      );
    };
    await documentWith(0);
    expect(logged).to.deep.equal([]);
    counter.metadata = { ...gauge.metadata, type: 'counter' };
    registry.targets = [gauge, counter];
    await documentWith(1);
    await documentWith(1);
    registry.targets = [gauge];
    await documentWith(0);
    expect(logged).to.deep.equal([
      {
        level: 'warning',
        message:
          'the merged document leaves out 1 metric because of conflicts with metrics of other targets; ' +
          `${gauge.metadata.name}{app="b",server_key="82"} is left out: the same metric already has the type gauge; ` +
          'rename the omitted metric, or give it the same type as the other metric, in its catalogue or at its publisher; targets need different labels',
      },
      { level: 'info', message: 'the merged document has the metrics of all targets again' },
    ]);
  });

  /** Opens HTTP with these limits. Returns a function that sends bytes to it and records the answer. */
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

  it('is HTTP if metrics_http_enabled is true, with limits on scrapes and response time', async () => {
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

  it('is HTTP if metrics_http_enabled is true, with limits on connections and request time', async () => {
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
    it(`is stdout by default, and prints ${format} at each interval`, () => {
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

  /** Returns the error of a listener whose port is already in use. */
  async function refusal(toml: (port: number) => string, overrides: (port: number) => Overrides) {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const base = 'metrics_http_enabled = true\nmetrics_bind_address = "127.0.0.1"\n';
    const sink = sinkOf(base + toml(port), overrides(port));
    const { message } = await new Promise<Error>((resolve) => {
      running = sink({ targets: [] }).subscribe({ error: resolve });
    });
    other.close();
    return message.replaceAll(String(port), 'PORT').replace(/: listen .*/, '');
  }

  const taken = [
    [
      'metrics_port (--metrics-port) and metrics_bind_address',
      (port: number) => `metrics_port = ${port}`,
      () => ({}),
    ],
    [
      '--metrics-port (metrics_port) and metrics_bind_address',
      () => '',
      (port: number) => ({ metricsPort: port }),
    ],
    [
      'metrics_listen_addresses (--web.listen-address)',
      (port: number) => `metrics_listen_addresses = ["127.0.0.1:0", "127.0.0.1:${port}"]`,
      () => ({}),
    ],
    [
      '--web.listen-address (metrics_listen_addresses)',
      () => '',
      (port: number) => ({ metricsListenAddresses: [`127.0.0.1:${port}`] }),
    ],
  ] as const;
  for (const [name, toml, overrides] of taken)
    it(`names ${name} in the error if the address is in use`, async () =>
      expect(await refusal(toml, overrides)).to.equal(`${name}: Cannot listen on 127.0.0.1:PORT`));

  const served = 'metrics_http_enabled = true\n';
  for (const [name, toml, overrides] of [
    ['metrics_systemd_socket (--web.systemd-socket)', 'metrics_systemd_socket = true', {}],
    ['--web.systemd-socket (metrics_systemd_socket)', '', { metricsSystemdSocket: true }],
  ] as const)
    it(`names ${name} in the error if systemd passed no socket`, () =>
      expect(faultMessage('LISTENER_FAILED', () => sinkOf(served + toml, overrides))).to.equal(
        `${name}: systemd passed no socket: start the .socket unit`,
      ));

  for (const [name, toml, overrides] of [
    ['textfile_dir (--textfile)', 'textfile_dir = "gone"', () => ({})],
    ['--textfile (textfile_dir)', '', () => ({ textfileDir: folder.path('gone') })],
  ] as const)
    it(`names ${name} in the error if the textfile cannot be written`, async () => {
      const { seen, subscription } = follow(
        sinkOf(`metrics_interval_seconds = 1\n${toml}`, overrides())({ targets: [] }),
      );
      running = subscription;
      await eventually('a snapshot is skipped', () => seen.some(({ kind }) => kind === 'skipped'));
      const reason = seen.flatMap((event) => (event.kind === 'skipped' ? [event.reason] : []))[0];
      expect(
        folder.bare(reason ?? '').startsWith(`${name}: cannot write gone/shm_exporter.prom: `),
        reason,
      ).to.equal(true);
    });
});
