// One poll of a component over a real connection, whatever is wrong with it.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Subscription, asyncScheduler } from 'rxjs';
import type { Endpoint, FailureReason } from '#app/bridge/poll/fetch-body.js';
import { fetchBody } from '#app/bridge/poll/fetch-body.js';
import { poll } from '#app/bridge/poll/poll.js';
import type { PollOutcome } from '#app/bridge/poll/poll.js';
import type { TestComponent } from '../../support/component/test-component.js';
import { FAULT_NAMES } from '../../support/component/faults.js';
import { COMPONENT_TLS, OTHER_TLS } from '../../support/component-certificates.js';
import { freshComponents } from '../../support/component/components.js';
import { REASON_OF } from '../../support/component/reason-of-fault.js';

const ENDPOINT = {
  tlsVerify: true,
  ca: undefined,
  deflate: false,
  connectTimeoutMs: 1000,
  maxBodyBytes: 1 << 20,
};
const LIMITS = { maxObjects: 50_000, maxVariables: 500_000, maxDepth: 64 };

const ask = (
  url: string,
  more: Partial<Endpoint> = {},
  key = '',
  requestTimeoutMs = 2000,
): Promise<PollOutcome> =>
  new Promise((resolve, reject) => {
    const endpoint = { ...ENDPOINT, url: new URL(`${url}/sharedmem`), ...more };
    const settings = {
      limits: LIMITS,
      requestTimeoutMs,
      unixMs: () => 7,
      steadyMs: () => performance.now(),
      scheduler: asyncScheduler,
    };
    poll(() => fetchBody(endpoint, key), settings).subscribe({ next: resolve, error: reject });
  });
const reasonOf = (outcome: PollOutcome): string =>
  outcome.kind === 'tree' ? 'tree' : outcome.failure.reason;
const messageOf = (outcome: PollOutcome): string =>
  outcome.kind === 'tree' ? 'tree' : `${outcome.failure.reason}: ${outcome.failure.message}`;

describe('a poll of a component', function () {
  this.slow(2000);
  const serve = freshComponents();

  it('brings its tree, with the moment it was asked and the size of its body', async () => {
    const { url } = await serve();
    const outcome = await ask(url);
    if (outcome.kind !== 'tree') throw outcome.failure;
    expect(outcome.tree.objects.size).to.be.above(50);
    expect(outcome.askedAtMs).to.equal(7);
    expect(outcome.size.received).to.equal(outcome.size.decoded).and.be.above(10_000);
  });

  for (const fault of FAULT_NAMES)
    it(`tells of ${fault} as ${REASON_OF[fault]}`, async () => {
      const server = await serve({ slowMs: 3000, dripMs: 50 });
      server.fault = fault;
      await server.settled;
      expect(reasonOf(await ask(server.url, {}, '', fault === 'slow' ? 300 : 1000))).to.equal(
        REASON_OF[fault],
      );
      expect(server.followed).to.equal(0);
      server.fault = undefined;
      await server.settled;
      expect(reasonOf(await ask(server.url))).to.equal('tree');
    });

  it('tells of too many objects where the body is small enough', async () => {
    const server = await serve();
    server.fault = 'many_objects';
    expect(reasonOf(await ask(server.url, { maxBodyBytes: 1 << 26 }, '', 10_000))).to.equal(
      'too_many',
    );
  });

  const COMPRESSIONS = ['zlib', 'raw', 'gzip'] as const;
  for (const compression of COMPRESSIONS)
    for (const isChunked of [true, false])
      it(`inflates ${compression}, ${isChunked ? 'in chunks' : 'in one go'}`, async () => {
        const { url } = await serve({ compression, isChunked });
        const outcome = await ask(url, { deflate: true });
        if (outcome.kind !== 'tree') throw outcome.failure;
        expect(outcome.size.received).to.be.below(outcome.size.decoded / 3);
      });

  it('is plain where no compression is asked for', async () => {
    const server = await serve({ compression: 'zlib' });
    await ask(server.url);
    expect(server.requests[0]?.headers).to.include({
      'accept-encoding': 'identity',
      connection: 'close',
    });
    expect(server.requests[0]?.headers).not.to.have.property('security-key');
  });

  it('sends the key, and says whether one is missing or wrong without telling it', async () => {
    const { url } = await serve({ securityKey: 'Sesame 1' });
    expect(reasonOf(await ask(url, {}, 'Sesame 1'))).to.equal('tree');
    expect(messageOf(await ask(url))).to.equal(
      'unauthorized: status 401: it requires a security_key',
    );
    const wrong = messageOf(await ask(url, {}, 'Sesame 2'));
    expect(wrong).to.equal('unauthorized: status 401: security_key is not the right one');
  });

  it('takes other types of JSON, and an answer without a type', async () => {
    for (const contentType of [
      'application/json; charset=utf-8',
      'text/json',
      'application/problem+json',
    ]) {
      const { url } = await serve({ contentType });
      expect(reasonOf(await ask(url)), contentType).to.equal('tree');
    }
  });

  it('trusts a certificate that its file has', async () => {
    const { url } = await serve({ tls: COMPONENT_TLS });
    expect(reasonOf(await ask(url, { ca: COMPONENT_TLS.cert }))).to.equal('tree');
    const byName = url.replace('127.0.0.1', 'localhost');
    expect(reasonOf(await ask(byName, { ca: COMPONENT_TLS.cert }))).to.equal('tree');
  });

  it('refuses a certificate that is not trusted, of another host, or of another server', async () => {
    const { url } = await serve({ tls: COMPONENT_TLS });
    const { url: other } = await serve({ tls: OTHER_TLS });
    expect(messageOf(await ask(url))).to.match(/^tls: .*self.signed/i);
    expect(messageOf(await ask(url, { ca: OTHER_TLS.cert }))).to.match(/^tls: /);
    expect(messageOf(await ask(other, { ca: OTHER_TLS.cert }))).to.match(/^tls: .*altnames/);
    for (const each of [url, other])
      expect(reasonOf(await ask(each, { tlsVerify: false }))).to.equal('tree');
  });

  it('tells in words that a server speaks too old a TLS', async () => {
    const old = createTlsServer({
      ...COMPONENT_TLS,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1',
      ciphers: 'ALL:@SECLEVEL=0',
    }).listen(0, '127.0.0.1');
    old.on('tlsClientError', () => undefined);
    await new Promise((resolve) => old.once('listening', resolve));
    const url = `https://127.0.0.1:${(old.address() as AddressInfo).port}`;
    const told = messageOf(await ask(url, { ca: COMPONENT_TLS.cert }));
    old.close();
    expect(told).to.equal('tls: tlsv1 alert protocol version');
  });

  it('tells of HTTP where HTTPS is spoken, and the other way round', async () => {
    const { url: plain } = await serve();
    const { url: secure } = await serve({ tls: COMPONENT_TLS });
    expect(reasonOf(await ask(plain.replace('http:', 'https:')))).to.equal('tls');
    expect(reasonOf(await ask(secure.replace('https:', 'http:')))).to.be.oneOf([
      'cut',
      'bad_http',
      'bad_status',
    ]);
  });

  it('tells of a name that nobody has', async () => {
    const outcome = await ask('http://no-such-host.invalid:8080');
    expect(reasonOf(outcome)).to.be.oneOf(['unreachable', 'timeout']);
  });

  describe('that speaks something else', () => {
    const servers: Server[] = [];
    const sockets = new Set<Socket>();
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      for (const server of servers.splice(0)) server.close();
    });
    const talk = (answer: (socket: Socket) => void): Promise<string> =>
      new Promise((resolve) => {
        const server = createServer((socket) => {
          sockets.add(socket);
          socket.on('error', () => undefined);
          socket.once('data', () => {
            answer(socket);
          });
        });
        servers.push(server);
        server.listen(0, '127.0.0.1', () => {
          resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        });
      });

    const SPEECH: Readonly<Record<string, readonly [said: string, reason: FailureReason]>> = {
      'no HTTP at all': ['SSH-2.0-OpenSSH_9.6\r\n', 'bad_http'],
      'an endless header': [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1 << 17)}`, 'bad_http'],
      'a status that is none': ['HTTP/1.1 abc OK\r\n\r\n', 'bad_http'],
      'a chunk of no length': [
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
        'bad_http',
      ],
      'a length that is none': ['HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n[]', 'bad_http'],
      'a length beyond all bounds': [
        'HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n',
        'too_large',
      ],
      'a body without an end': [`HTTP/1.1 200 OK\r\n\r\n["${'x'.repeat(2 << 20)}`, 'too_large'],
    };
    for (const [name, [said, reason]] of Object.entries(SPEECH))
      it(`tells of ${name}`, async () => {
        const url = await talk((socket) => void socket.write(said));
        expect(reasonOf(await ask(url))).to.equal(reason);
      });

    it('does not repeat a key that the answer repeats', async () => {
      const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n';
      const KEY = 'Sesame-1';
      const answers: readonly (readonly [said: string, told: string])[] = [
        [
          `HTTP/1.1 302 Found\r\nLocation: https://h/login?key=${KEY}\r\n\r\n`,
          'redirected: status 302, to "https://h/login": redirects are not followed',
        ],
        [`${HEAD}${KEY}`, "bad_json: the body is not JSON: Unexpected token 'S'"],
        [
          `${HEAD}[{"Security-Key": ${KEY}}]`,
          "bad_json: the body is not JSON: Unexpected token 'S'",
        ],
        [`${HEAD}["${KEY}" ""]`, "Expected ',' or ']' after array element in JSON at position 12"],
      ];
      for (const [said, told] of answers) {
        const url = await talk((socket) => void socket.end(said));
        const message = messageOf(await ask(url, {}, KEY));
        expect(message).to.include(told).and.not.to.include(KEY);
      }
    });

    it('takes an answer that ends with its connection', async () => {
      const url = await talk(
        (socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\n[{"Instance":"a"}]'),
      );
      expect(reasonOf(await ask(url))).to.equal('tree');
    });

    it('waits for a connection no longer than it is told', async () => {
      // A server that listens and accepts nobody: TLS never begins.
      const url = await talk(() => undefined);
      const outcome = await ask(url.replace('http:', 'https:'), { connectTimeoutMs: 150 });
      expect(messageOf(outcome)).to.equal('timeout: no connection within 150 ms');
    });

    it('ends the connection when nobody waits for the answer any more', async () => {
      const waiting = new Subscription();
      let isClosed = (): void => undefined;
      const closed = new Promise<void>((resolve) => {
        isClosed = resolve;
      });
      const url = await talk((socket) => {
        socket.once('close', isClosed);
        waiting.unsubscribe();
      });
      waiting.add(
        fetchBody({ ...ENDPOINT, url: new URL(url) }, '').subscribe({ error: () => undefined }),
      );
      await closed;
    });
  });

  it('leaves no connection behind', async () => {
    const servers: TestComponent[] = [];
    for (const fault of ['hang', 'cut', 'huge', undefined] as const) {
      const server = await serve();
      server.fault = fault;
      servers.push(server);
      await ask(server.url, {}, '', 300);
    }
    await eventually('all are over', () => servers.every(({ connections }) => connections === 0));
  });
});
