// Tests the limits of concurrent requests, per connection and for all connections.
import { expect } from 'chai';
import { Socket, connect } from 'node:net';
import { connect as connectSecurely, createSecureContext } from 'node:tls';
import { NEVER, Subject, VirtualTimeScheduler, concat, of, take, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { admission } from '#app/sinks/http/admission.js';
import { NO_GUARD } from '#app/sinks/http/http-server.js';
import type { Guard } from '#app/sinks/http/http-server.js';
import { COMPONENT_TLS } from '../../support/component-certificates.js';
import { eventually } from '../../support/eventually.js';
import { FakeTarget } from '../../support/fake-target.js';
import { follow } from '../../support/follow.js';
import { freshServing } from '../../support/serving-http.js';

describe('admission', () => {
  /**
   * Returns a handler. It answers with the refusal if there is one, otherwise with what `source$` emits, if
   * anything.
   */
  const at = (source$: Observable<unknown>) => (refusal?: string) =>
    refusal === undefined ? source$ : of(refusal);
  const taken = at(of('taken'));
  const never = at(NEVER);

  it('serves any number of requests from one connection one after the other', () => {
    const admitted = admission({ scrapes: 1, others: 1 }, 60_000);
    const socket = new Socket();
    for (let request = 0; request < 200; request++)
      expect(follow(admitted(socket, true, taken)).seen).to.deep.equal(['taken']);
  });

  it('queues a request above the limit of its kind for one second, then rejects the request', () => {
    const clock = new VirtualTimeScheduler();
    const admitted = admission({ scrapes: 2, others: 1 }, 60_000, clock);
    const ask = (isScrape: boolean, answer = taken) =>
      follow(admitted(new Socket(), isScrape, answer));
    const { subscription } = ask(true, never);
    ask(true, never);
    const first = ask(true, at(concat(of('taken'), NEVER)));
    const second = ask(true);
    expect(ask(false).seen, 'of another kind').to.deep.equal(['taken']);
    expect([...first.seen, ...second.seen]).to.deep.equal([]);
    subscription.unsubscribe();
    expect(first.seen, 'in their order').to.deep.equal(['taken']);
    expect(second.seen).to.deep.equal([]);
    clock.flush();
    expect(clock.now()).to.equal(1000);
    expect(second.seen).to.deep.equal(['too many scrapes at once']);
    expect(ask(false).seen).to.deep.equal(['taken']);
    first.subscription.unsubscribe();
    expect(ask(true).seen).to.deep.equal(['taken']);
  });

  it('drops a queued request when the time limit for its response ends', () => {
    const clock = new VirtualTimeScheduler();
    const admitted = admission({ scrapes: 9, others: 1 }, 60_000, clock);
    const socket = new Socket();
    const [, , third] = [never, never, taken].map((each) => follow(admitted(socket, true, each)));
    clock.flush();
    expect([clock.now(), third?.seen, third?.subscription.closed]).to.deep.equal([
      60_000,
      [],
      true,
    ]);
  });
});

// Behind TLS the listener has the same limits. Clients without a certificate cannot stop the listener.
describe('a guard', () => {
  const serve = freshServing();

  it('that fails causes status 500 and a log line, and does not affect later requests', async () => {
    let isBroken = true;
    const refusal = () => (isBroken ? throwError(() => new Error('no thread')) : of(undefined));
    const http = await serve([new FakeTarget()], { guard: { ...NO_GUARD, refusal } });
    const answer = await http.ask('/metrics');
    expect([answer.status, answer.text]).to.deep.equal([500, 'internal error\n']);
    expect(http.logged).to.deep.equal(['request /metrics failed: Error: no thread']);
    isBroken = false;
    expect((await http.ask('/metrics')).status).to.equal(200);
  });

  it('that admits a request late also delays the choice of the target', async () => {
    const targets = [new FakeTarget('ads', ['82'])];
    const asked$ = new Subject<undefined>();
    const refusal = () => asked$.pipe(take(1));
    const http = await serve(targets, { guard: { ...NO_GUARD, refusal } });
    const answer = http.ask('/metrics?server_key=83');
    await eventually('it is asked', () => asked$.observed);
    targets.splice(0, 1, new FakeTarget('adh', ['83']));
    asked$.next(undefined);
    expect((await answer).status).to.equal(200);
  });
});

describe('a guard that has not admitted a request when the exporter ends', () => {
  const serve = freshServing();

  it('does not delay the answer, which has status 503', async () => {
    const asked$ = new Subject<undefined>();
    const guard = { ...NO_GUARD, refusal: () => asked$ };
    const http = await serve([new FakeTarget()], { guard });
    const answer = http.ask('/metrics');
    await eventually('it is asked', () => asked$.observed);
    http.leave();
    const { status, text } = await answer;
    expect([status, text]).to.deep.equal([503, 'the exporter is shutting down\n']);
  });
});

describe('a listener with TLS', () => {
  const serve = freshServing();
  const ofComponent = createSecureContext(COMPONENT_TLS);
  const context = () => ofComponent;
  const tls = {
    ...{ requestCert: false, rejectUnauthorized: false, context },
    certificateRefusal: () => undefined,
  };
  const guard: Guard = { ...NO_GUARD, tls };
  const GET = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  /** A client that sends one request and records the answer. */
  const client = (origin: string, bytes = GET) => {
    const seen = { text: '', isOver: false };
    const port = Number(new URL(origin).port);
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
      socket.write(bytes),
    );
    ends.push(() => socket.destroy());
    socket.on('data', (data: Buffer) => (seen.text += data.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => (seen.isOver = true));
    return seen;
  };

  it('answers requests', async () => {
    const http = await serve([new FakeTarget()], { guard });
    expect(http.origin).to.match(/^https:/);
    const one = client(http.origin);
    await eventually('an answer', () => one.text.includes('demo_value 1'));
  });

  it('closes connections without TLS, and answers other clients meanwhile', async () => {
    const http = await serve([new FakeTarget()], { guard });
    const plain = connect(Number(new URL(http.origin).port), '127.0.0.1', () => plain.write(GET));
    let isOver = false;
    let text = '';
    plain.on('data', (data) => (text += data.toString('latin1')));
    plain.on('error', () => undefined);
    plain.on('close', () => (isOver = true));
    const one = client(http.origin);
    await eventually('both', () => isOver && one.text.includes('demo_value 1'));
    expect(text).not.to.contain('demo_value');
  });

  it('closes idle connections to make room for new connections, but no connection with a running request', async () => {
    const silent = Object.assign(new FakeTarget(), {
      demand: () => {
        silent.demands++;
        return NEVER;
      },
    });
    const http = await serve([silent], { guard, maxConnections: 2 });
    const asking = client(http.origin);
    const idle = client(http.origin, '');
    await eventually('the first asks', () => silent.demands > 0);
    const probe = client(http.origin, GET.replace('/metrics', '/-/healthy'));
    await eventually('the probe is answered', () => probe.text.includes('healthy'));
    await eventually('the silent one made room', () => idle.isOver);
    expect(asking.isOver).to.equal(false);
  });

  it('closes connections of clients without an accepted certificate', async () => {
    const http = await serve([new FakeTarget()], {
      guard: { ...guard, tls: { ...tls, certificateRefusal: () => 'no_certificate' as const } },
    });
    const one = client(http.origin);
    await eventually('the end', () => one.isOver);
    expect(one.text).to.equal('');
  });
});
