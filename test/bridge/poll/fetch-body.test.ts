// Tests single polls of a component over real connections, with every kind of failure.
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
import { AUTHORITY, Authorities } from '../../support/authorities.js';
import { COMPONENT_TLS, OTHER_TLS } from '../../support/component-certificates.js';
import { freshComponents } from '../../support/component/components.js';
import { needsPrograms } from '../../support/needs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { FAILURES } from '../../support/component/failures.js';

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
    const limits = { ...LIMITS, requestTimeoutMs };
    const clocks = {
      unixMs: () => 7,
      steadyMs: () => performance.now(),
      scheduler: asyncScheduler,
    };
    poll(() => fetchBody(endpoint, key), limits, clocks).subscribe({
      next: resolve,
      error: reject,
    });
  });
const reasonOf = (outcome: PollOutcome): string =>
  outcome.kind === 'tree' ? 'tree' : outcome.failure.reason;
const messageOf = (outcome: PollOutcome): string =>
  outcome.kind === 'tree' ? 'tree' : `${outcome.failure.reason}: ${outcome.failure.message}`;

describe('A poll of a component', function () {
  this.slow(2000);
  const folder = temporaryFolder();
  const serve = freshComponents();

  it('returns its tree, with the time of the request and the size of the body', async () => {
    const { url } = await serve();
    const outcome = await ask(url);
    if (outcome.kind !== 'tree') throw outcome.failure;
    expect(outcome.tree.objects.size).to.be.above(50);
    expect(outcome.askedAtMs).to.equal(7);
    expect(outcome.size.received).to.equal(outcome.size.decoded).and.be.above(10_000);
  });

  for (const fault of FAULT_NAMES) {
    const failure = FAILURES[fault];
    it(`reports "${failure}" if the component has the fault "${fault}"`, async () => {
      const server = await serve({ slowMs: 3000, dripMs: 50 });
      server.fault = fault;
      await server.settled;
      const waitMs = fault === 'slow' ? 300 : 1000;
      const limitMs = failure.startsWith('timeout') ? waitMs : 30_000;
      const message = messageOf(await ask(server.url, {}, '', limitMs));
      expect(message.slice(0, failure.length)).to.equal(failure);
      expect(server.followed).to.equal(0);
      server.fault = undefined;
      await server.settled;
      expect(reasonOf(await ask(server.url))).to.equal('tree');
    });
  }

  it('reports too many objects, even if the size of the body is allowed', async () => {
    const server = await serve();
    server.fault = 'many_objects';
    expect(reasonOf(await ask(server.url, { maxBodyBytes: 1 << 26 }, '', 10_000))).to.equal(
      'too_many',
    );
  });

  const COMPRESSIONS = ['zlib', 'raw', 'gzip'] as const;
  for (const compression of COMPRESSIONS)
    for (const isChunked of [true, false])
      it(`inflates an answer that is compressed with ${compression} and sent ${isChunked ? 'in chunks' : 'in one piece'}`, async () => {
        const { url } = await serve({ compression, isChunked });
        const outcome = await ask(url, { deflate: true });
        if (outcome.kind !== 'tree') throw outcome.failure;
        expect(outcome.size.received).to.be.below(outcome.size.decoded / 3);
      });

  it('transfers plain JSON if no compression is requested', async () => {
    const server = await serve({ compression: 'zlib' });
    await ask(server.url);
    expect(server.requests[0]?.headers).to.include({
      'accept-encoding': 'identity',
      connection: 'close',
    });
    expect(server.requests[0]?.headers).not.to.have.property('security-key');
  });

  it('sends the key, and reports a missing or wrong key without printing it', async () => {
    const { url } = await serve({ securityKey: 'Sesame 1' });
    expect(reasonOf(await ask(url, {}, 'Sesame 1'))).to.equal('tree');
    expect(messageOf(await ask(url))).to.equal(
      'unauthorized: status 401: the component requires a security_key',
    );
    const wrong = messageOf(await ask(url, {}, 'Sesame 2'));
    expect(wrong).to.equal('unauthorized: status 401: security_key is wrong');
  });

  it('accepts every content type for JSON, and an answer without a content type', async () => {
    for (const contentType of [
      'application/json; charset=utf-8',
      'text/json',
      'application/problem+json',
    ]) {
      const { url } = await serve({ contentType });
      expect(reasonOf(await ask(url)), contentType).to.equal('tree');
    }
  });

  it('trusts a certificate in its CA file', async () => {
    const { url } = await serve({ tls: COMPONENT_TLS });
    expect(reasonOf(await ask(url, { ca: COMPONENT_TLS.cert }))).to.equal('tree');
    const byName = url.replace('127.0.0.1', 'localhost');
    expect(reasonOf(await ask(byName, { ca: COMPONENT_TLS.cert }))).to.equal('tree');
  });

  it('trusts an intermediate authority in its CA file, but not the root that signed the authority', async function () {
    needsPrograms(this, 'openssl');
    const authorities = new Authorities(folder);
    authorities.issue('root', { extensions: [AUTHORITY] });
    authorities.issue('int', { by: 'root', extensions: [AUTHORITY] });
    const extensions = ['subjectAltName=IP:127.0.0.1'];
    authorities.issue('server', { by: 'int', extensions });
    authorities.issue('other-server', { by: 'root', extensions });
    const reasonFrom = async (server: string, ...chain: readonly string[]) => {
      const tls = { cert: authorities.pem(server, ...chain), key: authorities.key(server) };
      const { url } = await serve({ tls });
      const outcome = await ask(url, { ca: authorities.pem('int') });
      return outcome.kind === 'tree' ? 'tree' : outcome.failure.message;
    };
    expect(await reasonFrom('server')).to.equal('tree');
    expect(await reasonFrom('server', 'int', 'root')).to.equal('tree');
    expect(await reasonFrom('other-server')).to.match(/unable to get local issuer/);
  });

  it('refuses an untrusted certificate, and a certificate for another server or host name', async () => {
    const { url } = await serve({ tls: COMPONENT_TLS });
    const { url: other } = await serve({ tls: OTHER_TLS });
    expect(messageOf(await ask(url))).to.match(/^tls: .*self.signed/i);
    expect(messageOf(await ask(url, { ca: OTHER_TLS.cert }))).to.match(/^tls: /);
    expect(messageOf(await ask(other, { ca: OTHER_TLS.cert }))).to.match(/^tls: .*altnames/);
    for (const each of [url, other])
      expect(reasonOf(await ask(each, { tlsVerify: false }))).to.equal('tree');
  });

  it('explains that a server supports only an outdated TLS version', async () => {
    const old = createTlsServer({
      ...COMPONENT_TLS,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1',
      ciphers: 'ALL:@SECLEVEL=0',
    }).listen(0, '127.0.0.1');
    old.on('tlsClientError', () => undefined);
    await new Promise((resolve) => old.once('listening', resolve));
    const url = `https://127.0.0.1:${(old.address() as AddressInfo).port}`;
    const expected = messageOf(await ask(url, { ca: COMPONENT_TLS.cert }));
    old.close();
    expect(expected).to.equal('tls: tlsv1 alert protocol version');
  });

  it('reports HTTP on an HTTPS port and HTTPS on an HTTP port', async () => {
    const { url: plain } = await serve();
    const { url: secure } = await serve({ tls: COMPONENT_TLS });
    expect(reasonOf(await ask(plain.replace('http:', 'https:')))).to.equal('tls');
    expect(reasonOf(await ask(secure.replace('https:', 'http:')))).to.be.oneOf([
      'cut',
      'bad_http',
      'bad_status',
    ]);
  });

  it('reports an unknown host name', async () => {
    const outcome = await ask('http://no-such-host.invalid:8080');
    expect(reasonOf(outcome)).to.be.oneOf(['unreachable', 'timeout']);
  });

  describe('with a raw HTTP answer', () => {
    const servers: Server[] = [];
    const sockets = new Set<Socket>();
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      for (const server of servers.splice(0)) server.close();
    });
    const serveRaw = (respond: (socket: Socket) => void): Promise<string> =>
      new Promise((resolve) => {
        const server = createServer((socket) => {
          sockets.add(socket);
          socket.on('error', () => undefined);
          socket.once('data', () => {
            respond(socket);
          });
        });
        servers.push(server);
        server.listen(0, '127.0.0.1', () => {
          resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        });
      });

    const BAD_ANSWERS: Readonly<Record<string, readonly [answer: string, reason: FailureReason]>> =
      {
        'another protocol': ['SSH-2.0-OpenSSH_9.6\r\n', 'bad_http'],
        'an endless header': [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1 << 17)}`, 'bad_http'],
        'an invalid status': ['HTTP/1.1 abc OK\r\n\r\n', 'bad_http'],
        'a chunk without a length': [
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
          'bad_http',
        ],
        'an invalid length': ['HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n[]', 'bad_http'],
        'an excessive length': [
          'HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n',
          'too_large',
        ],
        'a body without an end': [`HTTP/1.1 200 OK\r\n\r\n["${'x'.repeat(2 << 20)}`, 'too_large'],
      };
    for (const [name, [answer, reason]] of Object.entries(BAD_ANSWERS))
      it(`reports ${name}`, async () => {
        const url = await serveRaw((socket) => void socket.write(answer));
        expect(reasonOf(await ask(url))).to.equal(reason);
      });

    it('removes the key from an error message that quotes the answer', async () => {
      const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n';
      const KEY = 'Sesame-1';
      const answers: readonly (readonly [answer: string, expected: string])[] = [
        [
          `HTTP/1.1 302 Found\r\nLocation: https://h/login?key=${KEY}\r\n\r\n`,
          'redirected: status 302 redirects to "https://h/login"; redirects are not followed',
        ],
        [`${HEAD}${KEY}`, "bad_json: the body is not JSON: Unexpected token 'S'"],
        [
          `${HEAD}[{"Security-Key": ${KEY}}]`,
          "bad_json: the body is not JSON: Unexpected token 'S'",
        ],
        [`${HEAD}["${KEY}" ""]`, "Expected ',' or ']' after array element in JSON at position 12"],
      ];
      for (const [answer, expected] of answers) {
        const url = await serveRaw((socket) => void socket.end(answer));
        const message = messageOf(await ask(url, {}, KEY));
        expect(message).to.include(expected).and.not.to.include(KEY);
      }
    });

    it('accepts an answer without a length if the server closes the connection at the end of the answer', async () => {
      const url = await serveRaw(
        (socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\n[{"Instance":"a"}]'),
      );
      expect(reasonOf(await ask(url))).to.equal('tree');
    });

    it('waits for a connection no longer than the timeout for connections', async () => {
      // The server listens but never starts TLS.
      const url = await serveRaw(() => undefined);
      const outcome = await ask(url.replace('http:', 'https:'), { connectTimeoutMs: 150 });
      expect(messageOf(outcome)).to.equal('timeout: no connection within 150 ms');
    });

    it('closes the connection when the subscriber unsubscribes', async () => {
      const waiting = new Subscription();
      let isClosed = (): void => undefined;
      const closed = new Promise<void>((resolve) => {
        isClosed = resolve;
      });
      const url = await serveRaw((socket) => {
        socket.once('close', isClosed);
        waiting.unsubscribe();
      });
      waiting.add(
        fetchBody({ ...ENDPOINT, url: new URL(url) }, '').subscribe({ error: () => undefined }),
      );
      await closed;
    });
  });

  it('leaves no connection open', async () => {
    const servers: TestComponent[] = [];
    for (const fault of ['hang', 'cut', 'huge', undefined] as const) {
      const server = await serve();
      server.fault = fault;
      servers.push(server);
      await ask(server.url, {}, '', 300);
    }
    await eventually('all connections are closed', () =>
      servers.every(({ connections }) => connections === 0),
    );
  });
});
