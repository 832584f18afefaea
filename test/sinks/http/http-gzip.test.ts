// gzip in the HTTP responder, over real sockets.
import { execFile } from 'node:child_process';
import { get } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { of } from 'rxjs';
import { compileScope } from '#app/exposition/page/scope.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { eventually } from '../../support/eventually.js';
import { FakeTarget } from '../../support/fake-target.js';
import { needsPrograms } from '../../support/needs.js';
import { freshServing } from '../../support/serving-http.js';
import type { ServingHttp } from '../../support/serving-http.js';

describe('the HTTP responder with gzip', () => {
  const serve = freshServing();

  const lines = (count: number) => 'demo_value 1\n'.repeat(count);
  const large = (count = 1000): FakeTarget => {
    const target = new FakeTarget();
    target.text = lines(count);
    return target;
  };
  /** Returns the answer as sent, without decompressing it. */
  const raw = (
    { origin }: ServingHttp,
    path: string,
    headers: Readonly<Record<string, string>> = { 'accept-encoding': 'gzip' },
    method = 'GET',
  ): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const request = get(`${origin}${path}`, { headers, method, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ headers: response.headers, body: Buffer.concat(chunks) });
        });
      });
      request.on('error', reject);
    });
  const GZIP = 'GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n';

  it('sends a page compressed or plain as requested, with Content-Length and Vary', async () => {
    const target = large();
    const selfMetrics = new SelfMetrics();
    const http = await serve([target], { selfMetrics });
    const plain = await raw(http, '/metrics', {});
    const zipped = await raw(http, '/metrics');
    expect(plain.headers).not.to.have.property('content-encoding');
    expect(zipped.headers).to.include({
      'content-encoding': 'gzip',
      'content-length': String(zipped.body.length),
      'content-type': plain.headers['content-type'],
    });
    for (const { headers } of [plain, zipped])
      expect(headers.vary).to.equal('Accept, Accept-Encoding');
    expect(gunzipSync(zipped.body).equals(plain.body)).to.equal(true);
    expect(zipped.body.length).to.be.lessThan(plain.body.length / 10);
    expect(target.held).to.equal(0);
    const saved = plain.body.length - zipped.body.length;
    await eventually('both are counted', () => http.served.length === 2);
    expect(http.served.at(-1)).to.include({ bytes: zipped.body.length, outcome: 'delivered' });
    expect(await selfMetrics.text([])).to.contain(
      `\nshm_exporter_http_saved_bytes_total ${saved}\n`,
    );
  });

  it('answers HEAD with the headers of GET', async () => {
    const http = await serve([large()]);
    const [head, whole] = [
      await raw(http, '/metrics', undefined, 'HEAD'),
      await raw(http, '/metrics'),
    ];
    const { date, ...headers } = head.headers;
    expect(date).to.be.a('string');
    expect(whole.headers).to.include(headers);
    expect(head.body.length).to.equal(0);
  });

  it('compresses an OpenMetrics page and a scope separately from the text page', async () => {
    const scope = compileScope({ name: 'demo', metrics: ['demo_*'] });
    const answer = large().demandAnswer();
    const scoped = large().demandAnswer(scope);
    const target = large();
    target.demand = (wanted) => of(wanted === undefined ? answer : scoped);
    const http = await serve([target], { scope: () => scope });
    const accept = 'application/openmetrics-text';
    for (let round = 0; round < 2; round++)
      for (const path of ['/metrics', '/metrics/demo'])
        for (const wish of [{}, { accept }]) {
          const plain = await raw(http, path, wish);
          const zipped = await raw(http, path, { ...wish, 'accept-encoding': 'gzip' });
          expect(zipped.headers['content-encoding']).to.equal('gzip');
          expect(gunzipSync(zipped.body).toString()).to.equal(plain.body.toString());
        }
  });

  it('compresses its own metrics and the status page, but not the tree page, errors or small pages', async () => {
    const waiting = large(1000).wait({
      objects: { synced: 0, total: 1 },
      variables: { synced: 0, total: 0 },
      reason: 'x'.repeat(5000),
    });
    const http = await serve([new FakeTarget('adh', ['80']), waiting]);
    const own = await raw(http, '/-/metrics');
    expect(own.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(own.body).toString()).to.contain('\nprocess_cpu_seconds_total ');
    const status = await raw(http, '/');
    expect(status.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const others = [
      ...['/metrics?server_key=80', '/metrics?server_key=82', '/-/targets', '/none'],
      // This page shows both its query and texts of publishers. If it were compressed, its length would
      // reveal how similar the two are.
      '/tree?server_key=80&q=x',
    ];
    for (const path of others) {
      const { headers, body } = await raw(http, path);
      expect(headers, path).not.to.have.property('content-encoding');
      expect(headers['content-length']).to.equal(String(body.length));
    }
  });

  it('holds a snapshot only once for fifty concurrent scrapes', async () => {
    // Too large to be compressed as a whole in the thread that answers requests.
    const target = large(400_000);
    const answer = target.demandAnswer();
    let [asked, most] = [0, 0];
    target.demand = () => {
      most = Math.max(most, target.held);
      asked++;
      return of(answer);
    };
    const http = await serve([target]);
    const answers = await Promise.all(Array.from({ length: 50 }, () => raw(http, '/metrics')));
    expect([asked, most, target.held]).to.deep.equal([50, 1, 0]);
    for (const { body } of answers) expect(body.equals(answers[0]?.body ?? body)).to.equal(true);
    expect(gunzipSync(answers[0]?.body ?? Buffer.of()).length).to.be.greaterThan(5_200_000);
  });

  it('releases the page of a client that disconnects during the compression, and serves other clients', async () => {
    const target = large(1_000_000);
    const http = await serve([target]);
    const { socket } = http.send(GZIP);
    await eventually('it is being compressed', () => target.held === 1);
    socket.destroy();
    await eventually('the request is served', () => http.served.length === 1);
    expect(target.held).to.equal(0);
    expect((await http.ask('/metrics')).text.length).to.be.greaterThan(target.text.length);
  });

  it('still sends a page if the listener closes during the compression of the page', async () => {
    const target = large(1_000_000);
    const http = await serve([target]);
    const answer = raw(http, '/metrics');
    await eventually('it is being compressed', () => target.held === 1);
    http.leave();
    expect(gunzipSync((await answer).body).length).to.be.greaterThan(target.text.length);
    expect(target.held).to.equal(0);
  });

  it('sends pages that curl can read', async function () {
    needsPrograms(this, 'curl');
    const http = await serve([large()]);
    const words = ['-sS', '--compressed', `${http.origin}/metrics`];
    const { stdout } = await promisify(execFile)('curl', words);
    expect(stdout).to.equal((await raw(http, '/metrics', {})).body.toString());
  });
});
