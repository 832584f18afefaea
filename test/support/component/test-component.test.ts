import { expect } from 'chai';
import { Agent } from 'node:http';
import { ask, unpacked } from '../component-client.js';
import { readComponent } from '../component-reader.js';
import { eventually } from '../eventually.js';
import { ODD_SCENARIO } from '../odd-scenario.js';
import { freshComponents } from './components.js';

describe('TestComponent', () => {
  const serve = freshComponents();

  it('sends the status of the option refusalStatus to a client without the key', async () => {
    const server = await serve({ securityKey: 'open sesame', refusalStatus: 403 });
    expect((await ask(`${server.url}/sharedmem`)).status).to.equal(403);
  });

  for (const [compression, sent, encoding] of [
    ['zlib', 'zlib data', 'deflate'],
    ['raw', 'raw DEFLATE data', 'deflate'],
    ['gzip', 'gzip data', 'gzip'],
  ] as const)
    it(`sends ${sent} if the option compression is ${compression}`, async () => {
      const server = await serve({ compression });
      const url = `${server.url}/sharedmem`;
      const seen = await ask(url, { headers: { 'Accept-Encoding': 'deflate' } });
      expect(seen.headers['content-encoding']).to.equal(encoding);
      expect(seen.body[0] === 0x78).to.equal(compression === 'zlib');
      expect(unpacked(seen)).to.equal((await ask(url)).text);
    });

  it('sends chunks if the option isChunked is true', async () => {
    const server = await serve({ isChunked: true });
    const { headers, text } = await ask(`${server.url}/sharedmem`);
    expect(headers).to.include({ 'transfer-encoding': 'chunked' });
    expect(headers).not.to.have.property('content-length');
    expect(readComponent(text)).to.have.property('size', ODD_SCENARIO.objects.length);
  });

  it('keeps connections open if the option keepsAlive is true', async () => {
    const server = await serve({ keepsAlive: true });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let sockets = 0;
    agent.on('free', () => sockets++);
    await ask(`${server.url}/sharedmem`, { agent });
    const { headers } = await ask(`${server.url}/sharedmem`, { agent });
    expect(headers.connection).to.equal('keep-alive');
    await eventually('both requests have released the socket', () => sockets === 2);
    agent.destroy();
  });

  it('sends the content type in the option contentType', async () => {
    const server = await serve({ contentType: 'application/json; charset=utf-8' });
    const { headers } = await ask(`${server.url}/sharedmem`);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
  });

  it('delays answers by the time in the option latencyMs, and closes connections of clients that disconnect', async () => {
    const server = await serve({ latencyMs: 100_000 });
    const seen = await ask(`${server.url}/sharedmem`, { patienceMs: 50 });
    expect(seen).to.include({ status: 0, error: 'EPATIENCE' });
    await eventually('the connection is closed', () => server.connections === 0);
    const prompt = await serve({ latencyMs: 30 });
    expect((await ask(`${prompt.url}/sharedmem`)).status).to.equal(200);
  });
});
