import { expect } from 'chai';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { Fault } from '#app/errors.js';
import { ComponentServer } from '#app/simulator/component/component-server.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { OTHER_TLS, COMPONENT_TLS } from '../../support/component-certificates.js';
import { ask, unpacked } from '../../support/component-client.js';
import type { PollResult } from '../../support/component-client.js';
import { readComponent } from '../../support/component-reader.js';
import { freshComponents, treeOf } from '../../support/components.js';
import { eventually } from '../../support/eventually.js';
import { meaningOf } from '../../support/meaning.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';

const ROOT = 'desk.example.com.1.adh';
const idsOf = ({ text }: PollResult): string[] =>
  (JSON.parse(text) as { Instance: string }[]).map(({ Instance }) => Instance);

describe('ComponentServer', () => {
  const serve = freshComponents();

  it('shows the whole tree', async () => {
    const server = await serve();
    const seen = await ask(`${server.url}/sharedmem`);
    expect(seen.status).to.equal(200);
    expect(seen.headers).to.include({
      'content-type': 'application/json',
      'content-length': String(seen.body.length),
      connection: 'close',
    });
    expect(seen.error).to.equal(undefined);
    expect(readComponent(seen.text)).to.deep.equal(meaningOf(treeOf(ODD_SCENARIO)));
  });

  it('shows values as they are at each request, and another tree when it is given one', async () => {
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
    server.tree = new ServedTree();
    expect((await ask(`${server.url}/sharedmem`)).text).to.equal('[]');
  });

  describe('at its paths', () => {
    const one = (className: string, id: string) =>
      `/sharedmem/classes/${encodeURIComponent(className)}/instances/${encodeURIComponent(id)}`;
    const thread = `${ROOT}.1.sourceThread`;

    for (const [className, id] of [
      ['ManagedProcess.SrcDist', ROOT],
      ['Server.SrcDist', `${ROOT}.trailing.`],
      ['Klasse ä', `${thread}.Zürich "quoted" \\ 東京`],
    ] as const)
      it(`shows the object ${id} alone`, async () => {
        const server = await serve();
        const { status, text } = await ask(`${server.url}${one(className, id)}`);
        expect(status).to.equal(200);
        expect(JSON.parse(text)).to.include({ Instance: id, Class: className });
      });

    const statuses = [
      ['/sharedmem?x=1', 200],
      [one('ManagedProcess.SrcDist', 'nobody'), 204],
      [one('AnotherClass', ROOT), 204],
      ['/', 404],
      ['/sharedmem/', 404],
      ['/sharedmemory', 404],
      ['/sharedmem/classes', 404],
      [`${one('ManagedProcess.SrcDist', ROOT)}/variables/time`, 404],
      ['/sharedmem/print', 404],
      ['/sharedmem/print/constructor', 404],
      ['/sharedmem/%ff', 404],
    ] as const;
    for (const [path, status] of statuses)
      it(`answers ${status} at ${path}`, async () => {
        const server = await serve();
        const seen = await ask(`${server.url}${path}`);
        expect(seen.status).to.equal(status);
        if (status === 204) expect(seen.body.length).to.equal(0);
      });

    const printed = [
      ['process', [ROOT, thread]],
      ['mounts', [`${ROOT}.mount.7`]],
      ['users', [`${ROOT}.users.alice`]],
      [
        'services',
        ['ONE', 'TWO'].map((name) => `${ROOT}.serviceGenerator.srcPrdServicePool.DF_LEV_${name}`),
      ],
    ] as const;
    for (const [name, ids] of printed) {
      it(`prints ${name}`, async () => {
        const server = await serve();
        const seen = await ask(`${server.url}/sharedmem/print/${name}`);
        expect(idsOf(seen)).to.deep.equal(ids);
      });
      it(`prints no ${name} where there are none`, async () => {
        const server = await serve({}, treeOf({ objects: [{ id: 'h.1.x', class: 'Shop' }] }));
        expect((await ask(`${server.url}/sharedmem/print/${name}`)).status).to.equal(204);
      });
    }

    it('states the state of every printed service', async () => {
      const server = await serve();
      const { text } = await ask(`${server.url}/sharedmem/print/services`);
      const states = (JSON.parse(text) as { State: string }[]).map(({ State }) => State);
      expect(states).to.deep.equal(['Normal', 'Dead']);
    });

    it('shows all that below its base, and nothing elsewhere', async () => {
      const server = await serve({ base: '/rtds/adh' });
      expect(server.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/rtds\/adh$/);
      expect((await ask(`${server.url}/sharedmem`)).status).to.equal(200);
      const { origin } = new URL(server.url);
      expect((await ask(`${origin}/sharedmem`)).status).to.equal(404);
      expect((await ask(`${origin}/rtds/adhoc/sharedmem`)).status).to.equal(404);
    });
  });

  for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
    it(`refuses ${method}`, async () => {
      const server = await serve();
      const { status, headers } = await ask(`${server.url}/sharedmem`, { method });
      expect(status).to.equal(405);
      expect(headers.allow).to.equal('GET');
    });

  for (const refusalStatus of [401, 403] as const)
    it(`answers ${refusalStatus} to who does not know the key, when told so`, async () => {
      const server = await serve({ securityKey: 'open sesame', refusalStatus });
      const status = async (key?: string) =>
        (
          await ask(`${server.url}/sharedmem`, {
            headers: key === undefined ? {} : { 'Security-Key': key },
          })
        ).status;
      expect(await status()).to.equal(refusalStatus);
      expect(await status('Open sesame')).to.equal(refusalStatus);
      expect(await status('open sesame')).to.equal(200);
    });

  describe('asked for deflate', () => {
    const encodings = [
      ['zlib', 'deflate', 0x78],
      ['raw', 'deflate', undefined],
      ['gzip', 'gzip', 0x1f],
    ] as const;
    for (const [compression, encoding, first] of encodings)
      it(`sends ${compression} when told so`, async () => {
        const server = await serve({ compression });
        const url = `${server.url}/sharedmem`;
        const seen = await ask(url, { headers: { 'Accept-Encoding': 'br, deflate;q=0.5' } });
        expect(seen.headers['content-encoding']).to.equal(encoding);
        if (first === undefined) expect(seen.body[0]).not.to.equal(0x78);
        else expect(seen.body[0]).to.equal(first);
        expect(unpacked(seen)).to.equal((await ask(url)).text);
      });

    for (const accepted of ['gzip, br', 'deflate;q=0', 'deflated', 'identity'])
      it(`sends plain text to who accepts ${accepted}`, async () => {
        const server = await serve();
        const { headers, text } = await ask(`${server.url}/sharedmem`, {
          headers: { 'Accept-Encoding': accepted },
        });
        expect(headers).not.to.have.property('content-encoding');
        expect(text).to.match(/^\[\{/);
      });
  });

  it('sends chunks when told so', async () => {
    const server = await serve({ isChunked: true });
    const { headers, text } = await ask(`${server.url}/sharedmem`);
    expect(headers).to.include({ 'transfer-encoding': 'chunked' });
    expect(headers).not.to.have.property('content-length');
    expect(readComponent(text)).to.have.property('size', ODD_SCENARIO.objects.length);
    expect((await ask(`${server.url}/sharedmem/print/users`)).status).to.equal(200);
  });

  it('keeps connections when told so', async () => {
    const server = await serve({ keepsAlive: true });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let sockets = 0;
    agent.on('free', () => sockets++);
    await ask(`${server.url}/sharedmem`, { agent });
    const { headers } = await ask(`${server.url}/sharedmem`, { agent });
    expect(headers.connection).to.equal('keep-alive');
    await eventually('the socket is free again', () => sockets === 2);
    agent.destroy();
  });

  it('says the content type that it is told', async () => {
    const server = await serve({ contentType: 'application/json; charset=utf-8' });
    const { headers } = await ask(`${server.url}/sharedmem`);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
  });

  it('takes its time when told so, and forgets who does not wait', async () => {
    const server = await serve({ latencyMs: 100_000 });
    const seen = await ask(`${server.url}/sharedmem`, { patienceMs: 50 });
    expect(seen).to.include({ status: 0, error: 'EPATIENCE' });
    await eventually('the client is gone', () => server.connections === 0);
    const prompt = await serve({ latencyMs: 30 });
    expect((await ask(`${prompt.url}/sharedmem`)).status).to.equal(200);
  });

  describe('with a certificate', () => {
    it('speaks HTTPS to who trusts it', async () => {
      const server = await serve({ tls: COMPONENT_TLS });
      expect(server.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
      const { status, text } = await ask(`${server.url}/sharedmem`);
      expect(status).to.equal(200);
      expect(readComponent(text)).to.have.property('size', ODD_SCENARIO.objects.length);
      const named = server.url.replace('127.0.0.1', 'localhost');
      expect((await ask(`${named}/sharedmem`)).status).to.equal(200);
    });

    it('is not trusted under another name', async () => {
      const server = await serve({ tls: OTHER_TLS });
      const { status, error } = await ask(`${server.url}/sharedmem`);
      expect([status, error]).to.deep.equal([0, 'DEPTH_ZERO_SELF_SIGNED_CERT']);
    });

    it('refuses to start with a key that does not fit', async () => {
      const server = new ComponentServer(new ServedTree(), {
        tls: { cert: COMPONENT_TLS.cert, key: OTHER_TLS.key },
      });
      const error = await server.listen(0).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Fault).with.property('code', 'USAGE');
    });
  });

  it('says that a port is taken', async () => {
    const first = await serve();
    const second = new ComponentServer(new ServedTree());
    const port = Number(new URL(first.url).port);
    const error = await second.listen(port).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Fault).with.property('code', 'LISTENER_FAILED');
    expect(error)
      .to.have.property('message')
      .that.matches(/^Cannot listen on 127\.0\.0\.1:\d+: /);
  });

  it('ends all connections at once when it is closed', async () => {
    const server = await serve({ keepsAlive: true, latencyMs: 100_000 });
    const silent = connect(Number(new URL(server.url).port), '127.0.0.1');
    const isOver = new Promise<void>((resolve) => {
      silent.on('error', () => undefined).on('close', () => resolve());
    });
    const waiting = ask(`${server.url}/sharedmem`);
    await eventually('both are there', () => server.connections === 2);
    await server.close();
    await isOver;
    expect((await waiting).error).to.equal('ECONNRESET');
    expect((await ask(`${server.url}/sharedmem`)).error).to.equal('ECONNREFUSED');
    await server.close();
  });
});
