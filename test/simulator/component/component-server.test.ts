import { expect } from 'chai';
import { connect } from 'node:net';
import { Fault } from '#app/errors.js';
import { ComponentServer } from '#app/simulator/component/component-server.js';
import type { ComponentOptions } from '#app/simulator/component/component-server.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { OTHER_TLS, COMPONENT_TLS } from '../../support/component-certificates.js';
import { ask, unpacked } from '../../support/component-client.js';
import { readComponent } from '../../support/component-reader.js';
import { treeOf } from '../../support/component/components.js';
import { expectedObjects } from '../../support/expected-objects.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';

describe('ComponentServer', () => {
  const servers: ComponentServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
  async function serve(
    options: ComponentOptions = {},
    tree = treeOf(ODD_SCENARIO),
  ): Promise<ComponentServer> {
    const server = new ComponentServer(tree, options);
    servers.push(server);
    await server.listen(0);
    return server;
  }

  it('serves the whole tree', async () => {
    const server = await serve();
    const seen = await ask(`${server.url}/sharedmem`);
    expect(seen.status).to.equal(200);
    expect(seen.headers).to.include({
      'content-type': 'application/json',
      'content-length': String(seen.body.length),
      connection: 'close',
    });
    expect(seen.error).to.equal(undefined);
    expect(readComponent(seen.text)).to.deep.equal(expectedObjects(treeOf(ODD_SCENARIO)));
  });

  it('serves current values at each request', async () => {
    const tree = new ServedTree();
    const value = tree.addVariable(tree.addRoot('h.1.x', 'C'), 'v', 'u64');
    const server = await serve({}, tree);
    const shown = async () => {
      const { text } = await ask(`${server.url}/sharedmem`);
      return readComponent(text).get('h.1.x')?.variables.get('v')?.value;
    };
    value.set(1);
    expect(await shown()).to.equal(1n);
    value.add(1);
    expect(await shown()).to.equal(2n);
  });

  const statuses = [
    ['/sharedmem?x=1', 200],
    ['/', 404],
    ['/sharedmem/', 404],
    ['/sharedmemory', 404],
    ['/sharedmem/%ff', 404],
  ] as const;
  for (const [path, status] of statuses)
    it(`answers ${status} to a request for ${path}`, async () => {
      const server = await serve();
      expect((await ask(`${server.url}${path}`)).status).to.equal(status);
    });

  it('serves /sharedmem below its base path, and nothing at other paths', async () => {
    const server = await serve({ base: '/rtds/adh' });
    expect(server.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/rtds\/adh$/);
    expect((await ask(`${server.url}/sharedmem`)).status).to.equal(200);
    const { origin } = new URL(server.url);
    expect((await ask(`${origin}/sharedmem`)).status).to.equal(404);
    expect((await ask(`${origin}/rtds/adhoc/sharedmem`)).status).to.equal(404);
  });

  for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
    it(`answers 405 to ${method}`, async () => {
      const server = await serve();
      const { status, headers } = await ask(`${server.url}/sharedmem`, { method });
      expect(status).to.equal(405);
      expect(headers.allow).to.equal('GET');
    });

  it('answers 401 to requests without the key of the server', async () => {
    const server = await serve({ securityKey: 'open sesame' });
    const status = async (headers: Readonly<Record<string, string>> = {}) =>
      (await ask(`${server.url}/sharedmem`, { headers })).status;
    expect(await status()).to.equal(401);
    expect(await status({ 'Security-Key': 'Open sesame' })).to.equal(401);
    expect(await status({ 'Security-Key': 'open sesame' })).to.equal(200);
  });

  describe('with content negotiation', () => {
    it('sends zlib data if the Accept-Encoding header allows deflate', async () => {
      const server = await serve();
      const url = `${server.url}/sharedmem`;
      const seen = await ask(url, { headers: { 'Accept-Encoding': 'br, deflate;q=0.5' } });
      expect(seen.headers['content-encoding']).to.equal('deflate');
      expect(seen.body[0]).to.equal(0x78);
      expect(unpacked(seen)).to.equal((await ask(url)).text);
    });

    for (const accepted of ['gzip, br', 'deflate;q=0', 'deflated', 'identity'])
      it(`sends plain text for "Accept-Encoding: ${accepted}"`, async () => {
        const server = await serve();
        const { headers, text } = await ask(`${server.url}/sharedmem`, {
          headers: { 'Accept-Encoding': accepted },
        });
        expect(headers).not.to.have.property('content-encoding');
        expect(text).to.match(/^\[\{/);
      });
  });

  describe('with a certificate', () => {
    it('serves HTTPS to clients that trust the certificate', async () => {
      const server = await serve({ tls: COMPONENT_TLS });
      expect(server.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
      const { status, text } = await ask(`${server.url}/sharedmem`);
      expect(status).to.equal(200);
      expect(readComponent(text)).to.have.property('size', ODD_SCENARIO.objects.length);
      const named = server.url.replace('127.0.0.1', 'localhost');
      expect((await ask(`${named}/sharedmem`)).status).to.equal(200);
    });

    it('is rejected by clients that do not trust the certificate', async () => {
      const server = await serve({ tls: OTHER_TLS });
      const { status, error } = await ask(`${server.url}/sharedmem`);
      expect([status, error]).to.deep.equal([0, 'DEPTH_ZERO_SELF_SIGNED_CERT']);
    });

    it('rejects the key of another certificate', () => {
      const tls = { cert: COMPONENT_TLS.cert, key: OTHER_TLS.key };
      expect(() => new ComponentServer(new ServedTree(), { tls }))
        .to.throw(Fault)
        .with.property('code', 'USAGE');
    });
  });

  it('reports a port that is in use', async () => {
    const first = await serve();
    const second = new ComponentServer(new ServedTree());
    const port = Number(new URL(first.url).port);
    const error = await second.listen(port).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Fault).with.property('code', 'LISTENER_FAILED');
    expect(error)
      .to.have.property('message')
      .that.matches(/^Cannot listen on 127\.0\.0\.1:\d+: /);
  });

  it('closes all connections at once when it is closed', async () => {
    const server = await serve();
    const { url } = server;
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    const isOver = new Promise<void>((resolve) => {
      silent.on('error', () => undefined).on('close', () => resolve());
    });
    await new Promise((resolve) => silent.once('connect', resolve));
    await server.close();
    await isOver;
    expect((await ask(`${url}/sharedmem`)).error).to.equal('ECONNREFUSED');
    await server.close();
  });
});
