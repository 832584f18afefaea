import { expect } from 'chai';
import { connect } from 'node:net';
import { createInflate, inflateSync } from 'node:zlib';
import type { TestComponent } from './test-component.js';
import { FAULT_NAMES } from './faults.js';
import type { FaultName } from './faults.js';
import { COMPONENT_TLS } from '../component-certificates.js';
import { ask } from '../component-client.js';
import type { ReceivedResponse } from '../component-client.js';
import { readComponent } from '../component-reader.js';
import { freshComponents, treeOf } from './components.js';
import { eventually } from '../eventually.js';
import { expectedObjects } from '../expected-objects.js';
import { ODD_SCENARIO } from '../odd-scenario.js';

const ROOT = 'desk.example.com.1.adh';
const OBJECTS = expectedObjects(treeOf(ODD_SCENARIO));
const MEGABYTE = 2 ** 20;

/** The number of levels down to the last object in the text of an answer. */
const depthOf = (text: string): number => text.split('"Children":[').length - 1;

/** Checks the response for each fault, given the body of the correct answer. */
const EXPECTED: Readonly<Record<FaultName, (seen: ReceivedResponse, right: Buffer) => void>> = {
  refuse: ({ status, error }) => expect([status, error]).to.deep.equal([0, 'ECONNREFUSED']),
  reset: ({ status, error }) => expect([status, error]).to.deep.equal([0, 'ECONNRESET']),
  hang: ({ status, error }) => expect([status, error]).to.deep.equal([0, 'EPATIENCE']),
  drip: ({ status, body, error, headers }, right) => {
    expect([status, error]).to.deep.equal([200, 'EPATIENCE']);
    expect(headers['content-length']).to.equal(String(right.length));
    expect(body.length).to.be.within(1, 100);
    expect(body).to.deep.equal(right.subarray(0, body.length));
  },
  cut: ({ status, body, error, headers }, right) => {
    expect([status, error]).to.deep.equal([200, 'ECONNRESET']);
    expect(headers['content-length']).to.equal(String(right.length));
    expect(body).to.deep.equal(right.subarray(0, Math.floor(right.length / 2)));
  },
  headers_only: ({ status, body, error, headers }, right) => {
    expect([status, error, body.length]).to.deep.equal([200, 'ECONNRESET', 0]);
    expect(headers['content-length']).to.equal(String(right.length));
  },
  short_length: ({ status, body }, right) => {
    expect(status).to.equal(200);
    expect(body).to.deep.equal(right.subarray(0, Math.floor(right.length / 2)));
  },
  long_length: ({ status, body, error }, right) => {
    expect([status, error]).to.deep.equal([200, 'ECONNRESET']);
    expect(body).to.deep.equal(right);
  },
  no_content: ({ status, body, error }) =>
    expect([status, body.length, error]).to.deep.equal([204, 0, undefined]),
  redirect: ({ status, headers }) =>
    expect([status, headers.location]).to.deep.equal([301, '/moved/sharedmem']),
  unauthorized: ({ status }) => expect(status).to.equal(401),
  forbidden: ({ status }) => expect(status).to.equal(403),
  not_found: ({ status }) => expect(status).to.equal(404),
  server_error: ({ status }) => expect(status).to.equal(500),
  html: ({ status, headers, text }) => {
    expect([status, headers['content-type']]).to.deep.equal([200, 'text/html; charset=utf-8']);
    expect(text).to.match(/^<!DOCTYPE html>/);
  },
  html_as_json: ({ status, headers, text }) => {
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect(text).to.match(/^<!DOCTYPE html>/);
  },
  empty: ({ status, headers, text, error }) => {
    expect([status, text, error]).to.deep.equal([200, '', undefined]);
    expect(headers['content-length']).to.equal('0');
  },
  empty_array: ({ status, text }) => expect([status, text]).to.deep.equal([200, '[]']),
  null: ({ status, text }) => expect([status, text]).to.deep.equal([200, 'null']),
  object: ({ status, text }) => {
    expect(status).to.equal(200);
    expect(JSON.parse(text)).to.include({ Instance: ROOT });
  },
  scalars: ({ status, text }) => expect([status, text]).to.deep.equal([200, '[1,2,3]']),
  huge: ({ status, body, error, headers }) => {
    expect([status, error]).to.deep.equal([200, undefined]);
    expect(headers['content-type']).to.equal('application/json');
    expect(body.length).to.be.within(100 * MEGABYTE, 101 * MEGABYTE);
    expect(body.toString('latin1', 0, 14)).to.equal('[{"Instance":"');
    expect(body.toString('latin1', body.length - 4)).to.equal('}]}]');
  },
  huge_deflate: ({ status, body, headers }) => {
    expect([status, headers['content-encoding']]).to.deep.equal([200, 'deflate']);
    expect(body.length).to.be.below(MEGABYTE);
    expect(inflateSync(body).length).to.be.within(100 * MEGABYTE, 101 * MEGABYTE);
  },
  bad_deflate: ({ status, body, headers }) => {
    expect([status, headers['content-encoding']]).to.deep.equal([200, 'deflate']);
    expect(() => inflateSync(body)).to.throw('invalid block type');
  },
  deep: ({ status, text }) => {
    expect(status).to.equal(200);
    expect(depthOf(text)).to.equal(10_000);
    expect(text.endsWith(`${']}'.repeat(10_000)}]`)).to.equal(true);
  },
  many_objects: ({ status, text, error }) => {
    expect([status, error]).to.deep.equal([200, undefined]);
    const [root] = JSON.parse(text) as { Children: { Instance: string }[] }[];
    const ids = new Set(root?.Children.map(({ Instance }) => Instance));
    expect(ids.size).to.equal(200_000 - 1);
  },
  bad_utf8: ({ status, body }) => {
    expect(status).to.equal(200);
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(body)).to.throw(TypeError);
    expect(JSON.parse(body.toString('latin1'))).to.have.length(1);
  },
  nan: ({ status, text }) => {
    expect(status).to.equal(200);
    expect(() => JSON.parse(text) as unknown).to.throw(SyntaxError);
    expect(JSON.parse(text.replace('NaN', '0'))).to.have.length(1);
  },
  trailing: ({ status, text }) => {
    expect(status).to.equal(200);
    expect(() => JSON.parse(text) as unknown).to.throw(SyntaxError);
    expect(readComponent(text.replace(/\]trailing$/, ''))).to.deep.equal(OBJECTS);
  },
  slow: ({ status, text }) => {
    expect(status).to.equal(200);
    expect(readComponent(text)).to.deep.equal(OBJECTS);
  },
  other_component: ({ status, text }) => {
    expect(status).to.equal(200);
    expect(readComponent(text)).to.deep.equal(OBJECTS);
  },
  unknown_encoding: ({ status, headers, body }) => {
    expect([status, headers['content-encoding']]).to.deep.equal([200, 'br']);
    expect(() => JSON.parse(body.toString()) as unknown).to.throw(SyntaxError);
  },
};

describe('the component fault', function () {
  this.slow(2000);
  const serve = freshComponents();
  const right = async (server: TestComponent) => {
    await server.settled;
    const { status, text } = await ask(`${server.url}/sharedmem`);
    expect(status).to.equal(200);
    expect(readComponent(text)).to.deep.equal(OBJECTS);
  };
  /** Whether the answer of a fault takes longer than a test may. */
  const isEndless = (name: FaultName) => name === 'hang' || name === 'drip';

  for (const name of FAULT_NAMES)
    it(`"${name}" affects clients until the fault is removed`, async () => {
      const server = await serve({ slowMs: 50, dripMs: 5 });
      const { body } = await ask(`${server.url}/sharedmem`);
      server.fault = name;
      expect(server.fault).to.equal(name);
      const patienceMs = isEndless(name) ? 500 : 10_000;
      EXPECTED[name](await ask(`${server.url}/sharedmem`, { patienceMs }), body);
      server.fault = undefined;
      await right(server);
      await eventually('all connections are closed', () => server.connections === 0);
    });

  for (const name of FAULT_NAMES)
    it(`"${name}" leaves no connection open if a client disconnects early`, async () => {
      const server = await serve({ slowMs: 100_000, dripMs: 1 });
      server.fault = name;
      for (const atMost of [1, 3, 100_000])
        await ask(`${server.url}/sharedmem`, { atMost, patienceMs: 40 });
      const { port } = new URL(server.url);
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket.end('GET /sharedmem HTTP/1.1\r\nHost: x\r\n\r\n');
      socket.destroySoon();
      await eventually('all connections are closed', () => server.connections === 0);
      server.fault = undefined;
      await right(server);
    });

  it('of any kind affects clients over HTTPS', async () => {
    const server = await serve({ tls: COMPONENT_TLS });
    const errorUnder = async (name: FaultName) => {
      server.fault = name;
      await server.settled;
      return (await ask(`${server.url}/sharedmem`, { patienceMs: 500 })).error;
    };
    expect(await errorUnder('reset')).to.equal('ECONNRESET');
    expect(await errorUnder('refuse')).to.equal('ECONNREFUSED');
    expect(await errorUnder('cut')).to.equal('ECONNRESET');
    expect(await errorUnder('hang')).to.equal('EPATIENCE');
    server.fault = undefined;
    await right(server);
  });

  it('"refuse" closes open connections, and keeps the port in use', async () => {
    const server = await serve({ keepsAlive: true });
    const { url } = server;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const isOver = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    await eventually('the connection is open', () => server.connections === 1);
    for (let round = 0; round < 5; round++) {
      server.fault = 'refuse';
      expect((await ask(`${url}/sharedmem`)).error).to.equal('ECONNREFUSED');
      server.fault = undefined;
      server.fault = 'refuse';
      await server.settled;
      expect((await ask(`${url}/sharedmem`)).error).to.equal('ECONNREFUSED');
      server.fault = undefined;
      await right(server);
    }
    await isOver;
    expect(server.url).to.equal(url);
  });

  for (const tls of [undefined, COMPONENT_TLS])
    it(`"reset" resets open connections of ${tls === undefined ? 'HTTP' : 'HTTPS'}`, async () => {
      const server = await serve({ tls, latencyMs: 100_000 });
      const seen = ask(`${server.url}/sharedmem`);
      await eventually('the request arrives', () => server.requests.length === 1);
      server.fault = 'reset';
      expect((await seen).error).to.equal('ECONNRESET');
    });

  it('"redirect" points to the correct answer, and counts the clients that follow the redirect', async () => {
    const server = await serve({ base: '/rtds' });
    server.fault = 'redirect';
    const { headers } = await ask(`${server.url}/sharedmem`);
    expect(server.followed).to.equal(0);
    const { text } = await ask(new URL(headers.location ?? '', server.url).href);
    expect(readComponent(text)).to.deep.equal(OBJECTS);
    expect(server.followed).to.equal(1);
  });

  it('"other_component" alternates between two processes', async () => {
    const server = await serve();
    server.fault = 'other_component';
    const facts = async () => {
      const variables = readComponent((await ask(`${server.url}/sharedmem`)).text).get(ROOT);
      return ['processID', 'time'].map((name) => variables?.variables.get(name)?.value);
    };
    const own = [412n, 'Mon Jan  5 08:00:00 2026'];
    const other = [99_999n, 'Tue Jan  6 09:30:00 2026'];
    expect([await facts(), await facts(), await facts()]).to.deep.equal([own, other, own]);
  });

  it('"huge" sends data only as fast as the client reads', async () => {
    const server = await serve();
    server.fault = 'huge';
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause();
    socket.write('GET /sharedmem HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the request arrives', () => server.requests.length === 1);
    const before = process.memoryUsage();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const after = process.memoryUsage();
    const grown = after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
    expect(grown).to.be.below(50 * MEGABYTE);
    expect(socket.bytesRead).to.be.below(50 * MEGABYTE);
    socket.destroy();
    await eventually('the connection is closed', () => server.connections === 0);
  });

  it('"huge_deflate" sends data that a client can inflate incrementally', async () => {
    const server = await serve();
    server.fault = 'huge_deflate';
    const { body } = await ask(`${server.url}/sharedmem`);
    let bytes = 0;
    const inflate = createInflate().on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > 10 * MEGABYTE) inflate.destroy();
    });
    inflate.end(body);
    await eventually('the client stops inflating', () => inflate.destroyed);
    expect(bytes).to.be.within(10 * MEGABYTE, 11 * MEGABYTE);
  });

  for (const name of ['cut', 'drip', 'short_length', 'slow'] as const)
    it(`"${name}" applies to the deflated answer if the client accepts deflate`, async () => {
      const server = await serve({ slowMs: 10, dripMs: 1 });
      server.fault = name;
      const headers = { 'Accept-Encoding': 'deflate' };
      const seen = await ask(`${server.url}/sharedmem`, { headers, patienceMs: 3000 });
      expect(seen.headers['content-encoding']).to.equal('deflate');
      expect(seen.body[0]).to.equal(0x78);
    });
});
