// How many requests one connection may have at once, and how many all of them.
import { expect } from 'chai';
import { Socket } from 'node:net';
import { NEVER, VirtualTimeScheduler, concat, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { admission } from '#app/sinks/http/admission.js';
import { follow } from '../../support/follow.js';

describe('admission', () => {
  /** Answers with the refusal, or `taken`; at once, or never. */
  const at = (source$: Observable<unknown>) => (refusal?: string) =>
    refusal === undefined ? source$ : of(refusal);
  const taken = at(of('taken'));
  const never = at(NEVER);

  it('serves any number of requests of one connection, one after the other', () => {
    const admitted = admission({ scrape: 1, page: 1 });
    const socket = new Socket();
    for (let request = 0; request < 200; request++)
      expect(follow(admitted(socket, 'scrape', taken)).seen).to.deep.equal(['taken']);
  });

  it('lets what is too much of its kind wait a second for one to be over, then refuses it', () => {
    const clock = new VirtualTimeScheduler();
    const admitted = admission({ scrape: 2, page: 1 }, clock);
    const ask = (kind: 'scrape' | 'page', answer = taken) =>
      follow(admitted(new Socket(), kind, answer));
    const { subscription } = ask('scrape', never);
    ask('scrape', never);
    const first = ask('scrape', at(concat(of('taken'), NEVER)));
    const second = ask('scrape');
    expect(ask('page').seen, 'of another kind').to.deep.equal(['taken']);
    expect([...first.seen, ...second.seen]).to.deep.equal([]);
    subscription.unsubscribe();
    expect(first.seen, 'in their order').to.deep.equal(['taken']);
    expect(second.seen).to.deep.equal([]);
    clock.flush();
    expect(clock.now()).to.equal(1000);
    expect(second.seen).to.deep.equal(['too many scrapes at once']);
    expect(ask('page').seen).to.deep.equal(['taken']);
    first.subscription.unsubscribe();
    expect(ask('scrape').seen).to.deep.equal(['taken']);
  });

  it('forgets who left while they waited', () => {
    const admitted = admission({ scrape: 1, page: 1 }, new VirtualTimeScheduler());
    const ask = (answer = taken) => follow(admitted(new Socket(), 'scrape', answer));
    const running = ask(never);
    const left = ask();
    const stays = ask();
    left.subscription.unsubscribe();
    running.subscription.unsubscribe();
    expect(left.seen).to.deep.equal([]);
    expect(stays.seen).to.deep.equal(['taken']);
  });
});
