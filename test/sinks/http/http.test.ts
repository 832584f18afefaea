// The HTTP responder over real sockets. Spec 4 and 7.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { NEVER, Observable, Subject, firstValueFrom, of, throwError } from 'rxjs';
import { Fault } from '#app/errors.js';
import { compileScope } from '#app/exposition/page/scope.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { DemandAnswer } from '#app/model.js';
import { NO_GUARD } from '#app/sinks/http/http-server.js';
import { httpSink } from '#app/sinks/http/http.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { eventually } from '../../support/eventually.js';
import { FakeTarget } from '../../support/fake-target.js';
import { needsPrograms } from '../../support/needs.js';
import { readOpenMetrics } from '../../support/open-metrics-checker.js';
import { serviceFacts } from '../../support/service-facts.js';
import { freshServing } from '../../support/serving-http.js';
import { textOf } from '../../support/text-of-html.js';

describe('the HTTP responder', () => {
  const serve = freshServing();

  const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const PAGE =
    '# HELP demo_value A value.\n# TYPE demo_value gauge\ndemo_value 1\n' +
    '# HELP shm_exporter_target_info Labels of the target; always 1.\n' +
    '# TYPE shm_exporter_target_info gauge\n' +
    'shm_exporter_target_info{app="ads",server_key="82",root="H.1.ads",partition="0"} 1\n';

  const scopes = Object.entries({
    all: ['*'],
    'a.b_c-d': ['*'],
    demo: ['demo_*'],
    own: ['shm_*'],
    nothing: ['other_*'],
  }).map(([name, metrics]) => compileScope({ name, metrics }));
  const scope = (name: string) => scopes.find((each) => each.name === name);

  describe('answers', () => {
    it('200 with the text of a ready target', async () => {
      const target = new FakeTarget();
      const { status, headers, text } = await (await serve([target])).ask('/metrics');
      expect([status, text]).to.deep.equal([200, PAGE]);
      expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
      expect(headers.get('content-length')).to.equal(String(PAGE.length));
      expect(target.held).to.equal(0);
    });

    it('503 with the sentence of spec 7 while a target is not ready', async () => {
      const target = new FakeTarget().wait({
        objects: { synced: 3, total: 7 },
        variables: { synced: 11, total: 13 },
        reason: 'object H.1.ads.x',
      });
      expect(await (await serve([target])).ask('/metrics')).to.deep.include({
        status: 503,
        text:
          'scrape not ready: objects 3/7 synced, variables 11/13 synced, ' +
          'waiting on object H.1.ads.x\n',
      });
    });

    it('404 for an unknown scope, 400 for two scopes, and 503 for any scope of a target that is not ready', async () => {
      const target = new FakeTarget();
      const http = await serve([target], { scope });
      expect(await http.ask('/metrics?scope=none')).to.deep.include({
        status: 404,
        text: 'no metric scope "none"\n',
      });
      expect((await http.ask('/metrics?scope=')).status).to.equal(404);
      expect((await http.ask('/metrics?scope=a&scope=b')).status).to.equal(400);
      expect(target.demands).to.equal(0);
      http.end();
      const waiting = await serve([
        new FakeTarget().wait({
          objects: { synced: 0, total: 1 },
          variables: { synced: 0, total: 0 },
          reason: 'object x',
        }),
      ]);
      for (const path of [
        '/metrics?scope=none',
        '/metrics/none',
        '/metrics?scope=',
        '/metrics/all',
      ])
        expect(await waiting.ask(path), path).to.deep.include({
          status: 503,
          text: 'scrape not ready: objects 0/1 synced, variables 0/0 synced, waiting on object x\n',
        });
    });

    it('a scope in the path like a scope in the query (spec 4.2)', async () => {
      const target = new FakeTarget();
      const http = await serve([target], { scope });
      const application = PAGE.slice(0, PAGE.indexOf('# HELP shm_'));
      const pages = [
        ['/metrics/demo', application],
        ['/metrics?scope=demo', application],
        ['/metrics/demo?scope=demo', application],
        ['/metrics/%64em%6F', application],
        ['/metrics/own', PAGE.slice(application.length)],
        ['/metrics/all', PAGE],
        ['/metrics/a.b_c-d', PAGE],
      ] as const;
      for (const [path, page] of pages)
        expect(await http.ask(path), path).to.deep.include({ status: 200, text: page });
      expect(target.held).to.equal(0);
    });

    it('404 if a scope matches no rendered metrics', async () => {
      const http = await serve([new FakeTarget()], { scope });
      expect(await http.ask('/metrics/nothing')).to.deep.include({
        status: 404,
        text: 'scope "nothing" matches no rendered metrics\n',
      });
    });

    it('with text 0.0.4 instead of OpenMetrics if OpenMetrics forbids a value', async () => {
      const target = new FakeTarget();
      target.violatesOpenMetrics = true;
      const http = await serve([target]);
      const page = await http.ask('/metrics', {
        headers: { accept: 'application/openmetrics-text' },
      });
      expect(page.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
      expect(page.text).to.equal(PAGE);
    });

    it('with OpenMetrics on request, with and without a scope', async () => {
      const target = new FakeTarget();
      const http = await serve([target], { scope });
      const asking = { headers: { accept: 'application/openmetrics-text;version=1.0.0' } };
      const pages = [await http.ask('/metrics', asking), await http.ask('/metrics/demo', asking)];
      for (const { headers, text } of pages) {
        expect(headers.get('content-type')).to.equal(
          'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
        );
        expect(headers.get('content-length')).to.equal(String(text.length));
        expect(headers.get('vary')).to.equal('Accept, Accept-Encoding');
      }
      expect(pages.map(({ text }) => readOpenMetrics(text).map(({ name }) => name))).to.deep.equal([
        ['demo_value', 'shm_exporter_target'],
        ['demo_value'],
      ]);
      const plain = await http.ask('/metrics');
      expect(plain.text).to.equal(PAGE);
      expect(plain.headers.get('vary')).to.equal('Accept, Accept-Encoding');
      expect(target.held).to.equal(0);
    });

    it('a HEAD request with the headers of GET and no body', async () => {
      const http = await serve([new FakeTarget()]);
      const { socket, text } = http.send(
        'HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      );
      await eventually('the answer ends', () => socket.readableEnded || socket.destroyed);
      expect(text()).to.match(/^HTTP\/1.1 200 OK\r\n/);
      expect(text()).to.contain(`\r\nContent-Length: ${PAGE.length}\r\n`);
      expect(text().endsWith('\r\n\r\n')).to.equal(true);
      await eventually('it is counted', () => http.served.length === 1);
      expect(http.served).to.deep.equal([{ kind: 'served', bytes: 0, outcome: 'delivered' }]);
    });

    it('500 if a target fails, and writes the reason only to the log', async () => {
      const target = new FakeTarget();
      target.demand = () => throwError(() => new Error('secret'));
      const http = await serve([target]);
      expect(await http.ask('/metrics')).to.deep.include({ status: 500, text: 'internal error\n' });
      expect(http.logged.join()).to.contain('secret');
      expect((await http.ask('/-/healthy')).status).to.equal(200);
    });

    for (const [kind, header, body] of [
      ['has a Content-Length', 'Content-Length: 1000000', 'x'.repeat(1_000_000)],
      ['is chunked', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ] as const)
      it(`the request after a request whose ignored body ${kind}`, async () => {
        const http = await serve([new FakeTarget()]);
        const { text } = http.send(
          `GET /metrics HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n${body}${GET('/-/healthy')}`,
        );
        await eventually('both answers', () => text().includes('healthy\n'));
        expect(text().match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 200']);
        expect(text()).to.contain(PAGE);
      });

    it('a request with an absolute URL, as a proxy sends it', async () => {
      const http = await serve([new FakeTarget()]);
      const { text } = http.send(GET('http://x:1/metrics?server_key=82'));
      await eventually('an answer', () => text().includes('demo_value 1'));
      expect(text()).to.match(/^HTTP\/1.1 200 /);
    });
  });

  // The listener checks the path first, then method, parameters, routing, readiness and scope.
  describe('answers', () => {
    const waiting = () =>
      new FakeTarget('adh', ['80'], 'H.1.adh').wait({
        objects: { synced: 0, total: 1 },
        variables: { synced: 0, total: 0 },
        reason: 'x',
      });
    const table = [
      ['POST', '/nowhere?server_key=1&server_key=2', 404],
      ['GET', '/', 200],
      ['GET', '/metrics/', 404],
      ['GET', '/Metrics', 404],
      ['POST', '/metrics?server_key=1&server_key=2', 405],
      ['PUT', '/-/healthy', 405],
      ['DELETE', '/', 405],
      ['OPTIONS', '/metrics', 200],
      ['OPTIONS', '/', 200],
      ['OPTIONS', '/nowhere', 404],
      ['GET', '/metrics?server_key=80&server_key=80', 400],
      ['GET', '/metrics', 400],
      ['GET', '/metrics?server_key=99', 404],
      ['GET', '/metrics?server_key=80', 503],
      ['GET', '/metrics?server_key=82', 200],
      ['HEAD', '/metrics?server_key=80', 503],
      ['GET', '/metrics?server_key=82&unknown=1&unknown=2', 200],
      ['GET', '/metrics?', 400],
      ['POST', '/metrics/a/b', 404],
      ['GET', '/metrics/all/', 404],
      ['GET', '/metrics//all', 404],
      ['GET', '/metrics/%', 404],
      ['GET', '/metrics/%ff', 404],
      ['GET', '/metricsall', 404],
      ['POST', '/metrics/all?scope=a&scope=b', 405],
      ['GET', '/metrics/all?scope=all&scope=all', 400],
      ['GET', '/metrics/all?server_key=82&scope=demo', 400],
      ['GET', '/metrics/none?server_key=82&scope=', 400],
      ['GET', '/metrics/none', 400],
      ['GET', '/metrics/none?server_key=99', 404],
      ['GET', '/metrics/none?server_key=80', 503],
      ['GET', '/metrics/all?server_key=80', 503],
      ['GET', '/metrics/none?server_key=82', 404],
      ['GET', '/metrics/a%2Fb?server_key=82', 404],
      ['GET', '/metrics/__proto__?server_key=82', 404],
      ['HEAD', '/metrics/all?server_key=82', 200],
    ] as const;
    for (const [method, path, wanted] of table)
      it(`${wanted} to ${method} ${path}`, async () => {
        const http = await serve([new FakeTarget(), waiting()], { scope });
        const { status, headers } = await http.ask(path, { method });
        expect(status).to.equal(wanted);
        const hasAllow = wanted === 405 || (method === 'OPTIONS' && wanted === 200);
        expect(headers.get('allow')).to.equal(hasAllow ? 'GET, HEAD' : null);
      });
  });

  describe('serves', () => {
    it('/-/healthy with status 200, whatever the state of the targets', async () => {
      const target = new FakeTarget().wait({
        objects: { synced: 0, total: 0 },
        variables: { synced: 0, total: 0 },
        reason: 'a root',
      });
      const http = await serve([target, new FakeTarget()]);
      expect(await http.ask('/-/healthy')).to.deep.include({ status: 200, text: 'healthy\n' });
      expect(await http.ask('/-/ready')).to.deep.include({
        status: 503,
        text: '1 of 2 targets not ready: a root\n',
      });
      target.isReady = true;
      expect(await http.ask('/-/ready')).to.deep.include({ status: 200, text: 'ready\n' });
      expect(target.demands).to.equal(0);
    });

    it('/-/metrics with internal metrics of all targets, and promtool accepts this page', async function () {
      const ads = new FakeTarget();
      const adh = new FakeTarget('adh', ['80'], 'H.1.adh');
      const ready = (value: number) => [
        {
          name: 'shm_exporter_internal_target_ready',
          type: 'gauge',
          help: 'Ready.',
          value,
        } as const,
        {
          name: 'shm_exporter_target_refresh_total',
          type: 'counter',
          help: 'Cycles.',
          value,
        } as const,
      ];
      ads.metrics = ready(1);
      adh.metrics = ready(0);
      const http = await serve([ads, adh]);
      await http.ask('/metrics?server_key=82');
      const pages = [await http.ask('/-/metrics'), await http.ask('/-/metrics')];
      for (const { text, headers } of pages) {
        expect(headers.get('content-type')).to.contain('text/plain; version=0.0.4');
        expect(text).to.contain(
          '\nshm_exporter_internal_target_ready{app="ads",server_key="82"} 1\n',
        );
        expect(text).to.contain(
          '\nshm_exporter_internal_target_ready{app="adh",server_key="80"} 0\n',
        );
        expect(text).to.contain(
          '\nshm_exporter_target_refresh_total{app="ads",server_key="82"} 1\n',
        );
        expect(text).to.contain('\nprocess_cpu_seconds_total ');
        expect(text).to.contain(
          '\nshm_exporter_publisher_state{app="adh",server_key="80",state="live"} 1\n',
        );
        expect(text).to.contain('\nprocess_cpu_seconds_total ');
      }
      needsPrograms(this, 'promtool');
      const { stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: pages[1]?.text ?? '',
        encoding: 'utf8',
      });
      // prom-client itself uses these three names.
      const complaints = stderr.split('\n').filter((line) => line !== '');
      expect(complaints).to.deep.equal(
        ['handles', 'requests', 'resources'].map(
          (what) =>
            `nodejs_active_${what}_total non-counter metrics should not have "_total" suffix`,
        ),
      );
    });

    it('the status page at /, with escaped texts of publishers', async () => {
      const evil = '<script>alert("1")</script>&';
      const target = new FakeTarget('ads', ['8"2'], evil).wait({
        objects: { synced: 0, total: 1 },
        variables: { synced: 0, total: 0 },
        reason: `object ${evil}`,
      });
      target.publisher = { state: 'corrupt', reason: evil };
      const { text, headers } = await (await serve([target])).ask('/');
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(textOf(text)).to.contain(`object ${evil}`);
      expect(text).to.contain('8&#34;2');
      expect(text).not.to.contain('<script>alert');
      expect(text).not.to.contain('"1"');
    });

    it('HTML pages with a content policy that allows only their own style and script', async () => {
      const http = await serve([new FakeTarget()]);
      for (const path of ['/', '/tree', '/tree?in=x']) {
        const { headers, text } = await http.ask(path);
        expect(headers.get('x-content-type-options')).to.equal('nosniff');
        expect(headers.get('referrer-policy')).to.equal('no-referrer');
        const policy = headers.get('content-security-policy') ?? '';
        const hashes = [...text.matchAll(/<(style|script)>([^]*?)<\/\1>/g)].map(
          ([, , own = '']) => `'sha256-${createHash('sha256').update(own).digest('base64')}'`,
        );
        expect(hashes, path).to.have.lengthOf(path === '/' ? 2 : 1);
        for (const each of hashes) expect(policy).to.contain(each);
        expect(policy).to.match(/^default-src 'none'; /);
        expect(policy).to.contain("frame-ancestors 'none'").and.not.to.contain('unsafe');
        expect(text).not.to.match(/ (style|on\w+)=| src=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
      }
    });

    it('HTML pages with their own content policy, even if the web configuration sets another one', async () => {
      const weak = { 'Content-Security-Policy': "default-src '*'", 'X-Own': 'kept' };
      const http = await serve([new FakeTarget()], {
        guard: { ...NO_GUARD, headers: () => weak },
      });
      const { headers } = await http.ask('/');
      expect(headers.get('content-security-policy')).to.contain("default-src 'none'");
      expect(headers.get('x-own')).to.equal('kept');
    });
  });

  describe('with many or faulty clients', () => {
    /** Far more than the buffers of the sockets can hold. */
    const HUGE = 'demo_value 1\n'.repeat(2_000_000);

    it('serves other clients while a client reads nothing, and releases its page when it disconnects', async () => {
      const slow = new FakeTarget('ads', ['82']);
      slow.text = HUGE;
      const http = await serve([slow, new FakeTarget('adh', ['80'])]);
      const { socket } = http.send(GET('/metrics?server_key=82'));
      socket.pause();
      await eventually('the page is being sent', () => slow.held === 1);
      expect((await http.ask('/metrics?server_key=80')).status).to.equal(200);
      expect(slow.held).to.equal(1);
      socket.destroy();
      await eventually('its page is released', () => slow.held === 0);
    });

    it('answers the 65th concurrent scrape with 503 and Retry-After, and serves later scrapes', async () => {
      const target = new FakeTarget();
      const answer$ = new Subject<DemandAnswer>();
      let asked = 0;
      target.demand = () => {
        asked++;
        return answer$;
      };
      const http = await serve([target]);
      const clients = Array.from({ length: 64 }, () => http.send(GET('/metrics')));
      await eventually('all 64 requests have arrived', () => asked === 64);
      const refused = await http.ask('/metrics');
      expect(refused).to.deep.include({ status: 503, text: 'too many scrapes at once\n' });
      expect(refused.headers.get('retry-after')).to.equal('1');
      answer$.next(target.demandAnswer());
      await eventually('64 are served', () =>
        clients.every(({ text }) => text().includes('200 OK')),
      );
      target.demand = () => of(target.demandAnswer());
      await eventually('they are over', () => http.served.length === 65);
      expect((await http.ask('/metrics')).status).to.equal(200);
    });

    it('serves its own pages while the maximum number of scrapes runs', async () => {
      const target = new FakeTarget();
      let asked = 0;
      target.demand = () => {
        asked++;
        return NEVER;
      };
      const http = await serve([target]);
      for (let client = 0; client < 64; client++) http.send(GET('/metrics'));
      await eventually('all 64 requests have arrived', () => asked === 64);
      expect((await http.ask('/metrics')).status).to.equal(503);
      const paths = ['/', '/-/healthy', '/-/ready', '/-/metrics', '/-/targets', '/none'];
      const statuses = await Promise.all(paths.map(async (path) => (await http.ask(path)).status));
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 404]);
    });

    it('rejects more than 64 concurrent requests for its own pages, and still serves scrapes', async () => {
      class Slow extends SelfMetrics {
        asked = 0;
        override text = () => {
          this.asked++;
          return new Promise<string>(() => undefined);
        };
      }
      const selfMetrics = new Slow();
      const http = await serve([new FakeTarget()], { selfMetrics });
      for (let client = 0; client < 64; client++) http.send(GET('/-/metrics'));
      await eventually('all 64 requests have arrived', () => selfMetrics.asked === 64);
      expect(await http.ask('/-/healthy')).to.deep.include({
        status: 503,
        text: 'too many requests at once\n',
      });
      expect((await http.ask('/metrics')).status).to.equal(200);
    });

    it('frees the places of clients that disconnect before they get an answer', async () => {
      const target = new FakeTarget();
      let asking = 0;
      target.demand = () =>
        new Observable(() => {
          asking++;
          return () => asking--;
        });
      const http = await serve([target]);
      const clients = Array.from({ length: 64 }, () => http.send(GET('/metrics')));
      await eventually('all 64 requests have arrived', () => asking === 64);
      expect((await http.ask('/metrics')).status).to.equal(503);
      for (const { socket } of clients) socket.destroy();
      await eventually('nobody asks any more', () => asking === 0);
      target.demand = () => of(target.demandAnswer());
      expect((await http.ask('/metrics')).status).to.equal(200);
      expect(target.held).to.equal(0);
    });

    it('releases the queued answers of a connection when its client disconnects', async () => {
      const target = new FakeTarget();
      target.text = HUGE;
      const http = await serve([target]);
      const { socket } = http.send(GET('/metrics').repeat(3));
      socket.pause();
      await eventually('they are being sent', () => target.held >= 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
      await eventually('their pages are released', () => target.held === 0);
      await eventually('they are over', () => http.served.length === target.demands);
    });

    it('answers pipelined requests in order', async () => {
      const http = await serve([new FakeTarget(), new FakeTarget('adh', ['80'])]);
      const paths = ['/metrics?server_key=82', '/x', '/metrics?server_key=80', '/-/healthy'];
      const { text } = http.send([...paths, ...paths, ...paths].map(GET).join(''));
      const heads = () => [...text().matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status);
      await eventually('all are answered', () => heads().length === 12);
      expect(heads().join(' ')).to.equal('200 404 200 200 '.repeat(3).trim());
    });

    const garbage = [
      ['zero bytes', '\0\0\0\0\r\n\r\n'],
      ['an invalid request line', 'HELO there\r\n\r\n'],
      ['a header without a name', 'GET /metrics HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
      ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      ['an endless request head', `GET /metrics HTTP/1.1\r\nX: ${'y'.repeat(40_000)}`],
    ] as const;
    for (const [what, bytes] of garbage)
      it(`closes only the connection that sends ${what}`, async () => {
        const http = await serve([new FakeTarget()]);
        const { socket, text } = http.send(bytes);
        await eventually('the connection ends', () => socket.readableEnded || socket.destroyed);
        expect(text()).to.match(/^HTTP\/1.1 4\d\d /);
        expect((await http.ask('/metrics')).status).to.equal(200);
      });

    it('answers the request after a request with a large, ignored body', async () => {
      const http = await serve([new FakeTarget()]);
      const body = 'x'.repeat(1_000_000);
      const { text } = http.send(
        `GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}${GET('/-/healthy')}`,
      );
      await eventually('the request after it is answered', () => text().includes('healthy'));
    });
  });

  describe('as an observable', () => {
    it('emits its address', async () => {
      const http = await serve([new FakeTarget()], { path: '/m' });
      expect(http.events[0])
        .to.have.property('where')
        .that.matches(/^http:\/\/127.0.0.1:\d+\/m$/);
    });

    it('fails with LISTENER_FAILED if the port is in use', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await eventually('the port is taken', () => other.listening);
      const taken = other.address();
      const port = typeof taken === 'object' && taken !== null ? taken.port : 0;
      const sink = httpSink({
        addresses: [{ host: '127.0.0.1', port }],
        guard: NO_GUARD,
        hostPage: { isEnabled: () => false, onLeftOut: () => undefined },
        responseMs: 1000,
        headerMs: 1000,
        maxHeaderBytes: 16_384,
        maxConnections: 1,
        maxScrapes: 1,
        path: '/metrics',
        formats: [TEXT],
        scope: () => undefined,
        scopeNames: () => [],
        notReady: () => '',
        selfMetrics: new SelfMetrics(),
        service: () => serviceFacts,
        unixMs: () => 0,
        hasTrees: false,
        showsUnreadTexts: () => false,
        dumpCommand: () => '',
        reload: undefined,
        log: () => undefined,
      });
      const failure = await firstValueFrom(sink({ targets: [] }), {
        defaultValue: undefined,
      }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Fault);
      expect(failure).to.have.property('code', 'LISTENER_FAILED');
      expect(failure)
        .to.have.property('message')
        .that.matches(new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`))
        .and.contains(`; "ss -ltnp 'sport = :${port}'" shows which process uses it`);
      other.close();
    });

    it('rejects a new request on an existing connection after unsubscription', async () => {
      const http = await serve([new FakeTarget()]);
      const { socket, text } = http.send('');
      await http.ask('/-/healthy');
      http.leave();
      socket.write(GET('/metrics'));
      await eventually('the connection ends', () => socket.readableEnded);
      expect(text()).to.match(/^HTTP\/1\.1 503 [^]*\r\nthe exporter is shutting down\n$/);
    });

    it('finishes a running response after unsubscription, and then closes its connection', async () => {
      const target = new FakeTarget();
      target.text = 'demo_value 1\n'.repeat(2_000_000);
      const http = await serve([target]);
      const { socket, text } = http.send(GET('/metrics'));
      socket.pause();
      await eventually('the page is being sent', () => target.held === 1);
      http.leave();
      const refused = await http.ask('/-/healthy').catch(() => 'refused');
      expect(refused).to.equal('refused');
      socket.resume();
      await eventually('the connection ends', () => socket.readableEnded);
      expect(text().length).to.be.greaterThan(target.text.length);
      expect(text().endsWith('partition="0"} 1\n')).to.equal(true);
      expect(target.held).to.equal(0);
    });

    it('closes idle connections immediately at unsubscription', async () => {
      const http = await serve([new FakeTarget()]);
      const { socket, text } = http.send(GET('/-/healthy'));
      await eventually('an answer', () => text().includes('healthy'));
      http.leave();
      await eventually('the connection ends', () => socket.readableEnded);
    });

    it('serves other targets while one target never answers', async () => {
      const silent = new FakeTarget('ads', ['82']);
      silent.demand = () => NEVER;
      const http = await serve([silent, new FakeTarget('adh', ['80'])]);
      http.send(GET('/metrics?server_key=82'));
      expect((await http.ask('/metrics?server_key=80')).status).to.equal(200);
    });
  });
});
