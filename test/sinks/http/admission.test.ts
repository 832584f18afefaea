// How many requests one connection may have at once, and how many all of them.
import { expect } from 'chai';
import { Socket } from 'node:net';
import { NEVER, of } from 'rxjs';
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

  it('refuses what is too much of its kind, until one of them is over', () => {
    const admitted = admission({ scrape: 2, page: 1 });
    const ask = (kind: 'scrape' | 'page', answer = taken) =>
      follow(admitted(new Socket(), kind, answer));
    const { subscription } = ask('scrape', never);
    ask('scrape', never);
    expect(ask('scrape').seen).to.deep.equal(['too many scrapes at once']);
    expect(ask('page').seen).to.deep.equal(['taken']);
    subscription.unsubscribe();
    expect(ask('scrape').seen).to.deep.equal(['taken']);
  });
});
