// Tests limits on how much slow, silent or greedy clients can take away from others, over real sockets.
import { expect } from 'chai';
import { NEVER, Observable, Subject } from 'rxjs';
import type { DemandAnswer } from '#app/model.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { eventually } from '../../support/eventually.js';
import { FakeTarget } from '../../support/fake-target.js';
import { freshServing } from '../../support/serving-http.js';
import type { ServingHttp } from '../../support/serving-http.js';

describe('the HTTP responder with limits', () => {
  const serve = freshServing();
  const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const SLOW_HEAD = 'GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ';
  /** Far more than the buffers of the sockets can hold. */
  const HUGE = `demo_value{text="${'x'.repeat(1000)}"} 1\n`.repeat(26_000);
  const statuses = (text: string) =>
    [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
  /** A target whose demands wait until the test answers them. */
  const waitingTarget = () => {
    const target = new FakeTarget();
    const answer$ = new Subject<DemandAnswer>();
    let waiting = 0;
    target.demand = () =>
      new Observable((subscriber) => {
        target.demands++;
        waiting++;
        const subscription = answer$.subscribe(subscriber);
        return () => {
          waiting--;
          subscription.unsubscribe();
        };
      });
    const answer = () => {
      answer$.next(target.demandAnswer());
    };
    return { target, answer, waiting: () => waiting };
  };

  describe('for a response', () => {
    const drips: NodeJS.Timeout[] = [];
    afterEach(() => {
      for (const drip of drips.splice(0)) clearInterval(drip);
    });
    /** Requests a page and reads a little of it at short intervals, so that its socket is never idle. */
    const drip = (http: ServingHttp) => {
      const { socket } = http.send(GET('/metrics'));
      socket.removeAllListeners('data').pause();
      drips.push(setInterval(() => void socket.read(4096), 5));
      return socket;
    };

    it('counts a response as a running scrape until the client has read it', async () => {
      const target = new FakeTarget();
      target.text = HUGE;
      const http = await serve([target], { maxScrapes: 2 });
      const sockets = [drip(http), drip(http)];
      await eventually('both are being sent', () => target.held === 2);
      expect((await http.ask('/metrics')).status).to.equal(503);
      for (const socket of sockets) socket.destroy();
      await eventually('both have ended', () => target.held === 0);
      target.text = 'demo_value 1\n';
      expect((await http.ask('/metrics')).status).to.equal(200);
    });

    it('ends the connection of a client that reads too slowly', async () => {
      const target = new FakeTarget();
      target.text = HUGE;
      const selfMetrics = new SelfMetrics();
      const http = await serve([target], { responseMs: 3000, maxScrapes: 2, selfMetrics });
      drip(http);
      drip(http);
      const cut = () => http.served.filter((e) => e.kind === 'served' && e.outcome === 'cut');
      await eventually('both are cut', () => cut().length === 2);
      target.text = 'demo_value 1\n';
      expect((await http.ask('/metrics')).status).to.equal(200);
      expect(target.held).to.equal(0);
      for (const event of cut()) expect(event).to.have.property('bytes').that.is.below(HUGE.length);
      expect(await selfMetrics.text([])).to.contain('\nshm_exporter_http_cut_responses_total 2\n');
    });

    it('ends a request whose target never answers', async () => {
      const target = new FakeTarget();
      target.demand = () => NEVER;
      const http = await serve([target], { responseMs: 1000, maxScrapes: 1 });
      const { socket } = http.send(GET('/metrics'));
      await eventually('the connection ends', () => socket.readableEnded || socket.destroyed);
      target.demand = new FakeTarget().demand.bind(target);
      expect((await http.ask('/metrics')).status).to.equal(200);
    });

    it('keeps a connection open, even if all its responses together take longer than the limit', async () => {
      const http = await serve([new FakeTarget()], { responseMs: 2000 });
      const { socket, text } = http.send('');
      const start = performance.now();
      let asked = 0;
      for (; performance.now() - start < 2500; asked++) {
        socket.write(GET('/metrics'));
        await eventually('an answer', () => statuses(text()).length === asked + 1);
      }
      expect(statuses(text())).to.have.length(asked);
      expect(socket.destroyed).to.equal(false);
    });
  });

  describe('for the requests of one connection', () => {
    it('serves at most two requests at a time to a client that does not read', async () => {
      const target = new FakeTarget('ads', ['82']);
      target.text = HUGE;
      const http = await serve([target, new FakeTarget('adh', ['80'])], { maxScrapes: 3 });
      const { socket } = http.send(GET('/metrics?server_key=82').repeat(60));
      socket.pause();
      await eventually('it takes its places', () => target.held === 2);
      for (let scrape = 0; scrape < 5; scrape++)
        expect((await http.ask('/metrics?server_key=80')).status).to.equal(200);
      expect([target.demands, target.held]).to.deep.equal([2, 2]);
      socket.destroy();
      await eventually('they are free again', () => target.held === 0);
      expect(target.demands, 'what waited is never asked').to.equal(2);
    });

    it('answers queued requests in order, and rejects each request beyond 64', async () => {
      const { target, answer, waiting } = waitingTarget();
      const http = await serve([target]);
      const { text } = http.send(GET('/metrics').repeat(100) + GET('/-/healthy'));
      await eventually('two are asked', () => waiting() === 2);
      await eventually('all are answered', () => {
        if (waiting() > 0) answer();
        return statuses(text()).length === 101;
      });
      const expected = [...Array<string>(64).fill('200'), ...Array<string>(37).fill('503')];
      expect(statuses(text())).to.deep.equal(expected);
      expect(text()).to.contain('too many requests at once on one connection\n');
      expect(target.demands).to.equal(64);
    });

    it('frees all places of a client that disconnects', async () => {
      const { target, answer, waiting } = waitingTarget();
      const http = await serve([target], { maxScrapes: 2 });
      const { socket } = http.send(GET('/metrics').repeat(40));
      await eventually('two are asked', () => waiting() === 2);
      socket.destroy();
      await eventually('nobody asks any more', () => waiting() === 0);
      const answers = [http.ask('/metrics'), http.ask('/metrics')];
      await eventually('others ask', () => waiting() === 2);
      answer();
      for (const each of answers) expect((await each).status).to.equal(200);
      expect(target.demands).to.equal(4);
    });
  });

  describe('for connections', () => {
    const ends = ({ socket }: ReturnType<ServingHttp['send']>) =>
      socket.readableEnded || socket.destroyed;

    it('lets other clients connect even if clients with slow request heads occupy all allowed connections', async () => {
      const selfMetrics = new SelfMetrics();
      const http = await serve([new FakeTarget()], { maxConnections: 20, selfMetrics });
      const slow = Array.from({ length: 30 }, () => http.send(SLOW_HEAD));
      await eventually('the first are closed', () => slow.filter(ends).length === 10);
      expect(slow.slice(0, 10).every(ends), 'those that came first').to.equal(true);
      expect((await http.ask('/metrics')).status).to.equal(200);
      expect(await selfMetrics.text([])).to.contain(
        '\nshm_exporter_http_dropped_connections_total 11\n',
      );
    });

    it('closes the connection of a client whose request head takes too long', async () => {
      const http = await serve([new FakeTarget()], { headerMs: 500 });
      const slow = [http.send(SLOW_HEAD), http.send('')];
      await eventually('both are closed', () => slow.every(ends));
      expect(slow[0]?.text()).to.match(/^HTTP\/1\.1 408 /);
    });

    it('answers 431 if a request head exceeds the size limit, and 200 if it does not', async () => {
      const http = await serve([new FakeTarget()], { maxHeaderBytes: 2048 });
      const head = (bytes: number) =>
        http.send(`GET /metrics HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(bytes)}\r\n\r\n`);
      const [large, small] = [head(2048), head(1500)];
      await eventually('it is refused', () => ends(large));
      expect(large.text()).to.match(/^HTTP\/1\.1 431 /);
      await eventually('it is served', () => small.text().includes(' 200 OK'));
    });

    it('never closes a connection with a running request in favour of a new connection', async () => {
      const { target, answer, waiting } = waitingTarget();
      const http = await serve([target], { maxConnections: 3 });
      const busy = [http.send(GET('/metrics')), http.send(GET('/metrics'))];
      await eventually('both ask', () => waiting() === 2);
      const silent = [http.send(SLOW_HEAD), http.send(SLOW_HEAD), http.send(SLOW_HEAD)];
      await eventually('two are closed', () => silent.filter(ends).length === 2);
      answer();
      await eventually('both are served', () => busy.every(({ text }) => text().includes(' 200 ')));
      expect(busy.some(ends)).to.equal(false);
    });

    it('closes a new connection while every other connection has a running request', async () => {
      const { target, answer, waiting } = waitingTarget();
      const http = await serve([target], { maxConnections: 2 });
      const busy = [http.send(GET('/metrics').repeat(3)), http.send(GET('/metrics'))];
      await eventually('all three requests wait', () => waiting() === 3);
      const late = http.send(GET('/metrics'));
      await eventually('it is closed', () => ends(late));
      answer();
      await eventually('the third asks', () => waiting() === 1);
      answer();
      await eventually('all are served', () =>
        busy.every(({ text }, at) => statuses(text()).length === (at === 0 ? 3 : 1)),
      );
    });

    it('closes an idle connection in favour of a new connection', async () => {
      const http = await serve([new FakeTarget()], { maxConnections: 1 });
      const first = http.send(GET('/metrics'));
      await eventually('an answer', () => first.text().includes(' 200 '));
      const second = http.send(GET('/metrics'));
      await eventually('another answer', () => second.text().includes(' 200 '));
      await eventually('the first is closed', () => ends(first));
    });

    it('does not count closed connections toward the limit', async () => {
      const selfMetrics = new SelfMetrics();
      const http = await serve([new FakeTarget()], { maxConnections: 1, selfMetrics });
      for (let i = 0; i < 3; i++) {
        const { socket, text } = http.send(
          `GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        );
        await eventually('it is answered and left', () => socket.readableEnded);
        expect(text()).to.contain(' 200 ');
      }
      expect(await selfMetrics.text([])).to.contain(
        '\nshm_exporter_http_dropped_connections_total 0\n',
      );
    });

    it('closes the connection that has been idle longest in favour of a new connection', async () => {
      const http = await serve([new FakeTarget()], { maxConnections: 2 });
      const first = http.send(GET('/metrics'));
      await eventually('an answer', () => first.text().includes(' 200 '));
      const second = http.send(SLOW_HEAD);
      await eventually('both are there', () => !second.socket.connecting);
      first.socket.write(GET('/metrics'));
      await eventually('another answer', () => statuses(first.text()).length === 2);
      http.send(SLOW_HEAD);
      await eventually('the slow one is closed', () => ends(second));
      expect(ends(first)).to.equal(false);
    });
  });
});
