// Which root a target exports. Spec 1.3.5, design 3 "Root choice".
import { expect } from 'chai';
import { map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ManagedObject } from '#app/model.js';
import { choose, chooseRoot } from '#app/streams/choose-root.js';
import type { DesiredRoot, RootChoice } from '#app/streams/choose-root.js';
import type { PollResult } from '#app/streams/watch.js';
import { marbles } from '../support/marbles.js';
import { root, pollResult, sourceOf, unseen } from '../support/poll-results.js';

const ADS = { app: 'ads', hint: '' };
const nameOf = (choice: RootChoice) => (choice.kind === 'chosen' ? choice.root.name : 'none');
const shows = (serverKey: string, ...roots: readonly (string | ManagedObject)[]): PollResult =>
  pollResult({
    serverKey,
    source: sourceOf(...roots.map((each) => (typeof each === 'string' ? root(each) : each))),
  });

describe('the choice of the root', () => {
  /** Sentence, hint, the roots of each server key in order, the id of the root that is taken. */
  const table: readonly (readonly [string, string, readonly (readonly string[])[], string])[] = [
    ['with a full id as hint, the root of that id', 'H.2.ads', [['H.1.ads', 'H.2.ads']], 'H.2.ads'],
    [
      'with a full id, that root though another has fewer segments',
      'a.b.2.ads',
      [['H.1.ads', 'a.b.2.ads']],
      'a.b.2.ads',
    ],
    [
      'with a full id, that root though another has it as its instance',
      'H.1.ads',
      [['x.H.1.ads.ads', 'H.1.ads']],
      'H.1.ads',
    ],
    [
      'with an instance number, the root of that instance',
      '2',
      [['H.1.ads', 'H.2.ads']],
      'H.2.ads',
    ],
    ['with an instance number, only roots of the app', '2', [['H.2.adh', 'G.2.ads']], 'G.2.ads'],
    ['without a hint, the root of the app', '', [['H.1.adh', 'H.1.ads']], 'H.1.ads'],
    ['a root of another application is never taken', '', [['H.1.adh']], 'none'],
    ['not even when the hint is its full id', 'H.1.adh', [['H.1.adh']], 'none'],
    ['a hint never falls back to other instances', '3', [['H.1.ads', 'H.2.ads']], 'none'],
    ['a hint never falls back to other ids', 'H.3.ads', [['H.1.ads']], 'none'],
    [
      'an application is the last segment, not a part of it',
      '',
      [['H.1.xads', 'H.1.ads2']],
      'none',
    ],
    [
      'what hangs below a root of the app is not of the app',
      '',
      [['H.1.ads.1.sourceThread', 'H.9.ads']],
      'H.9.ads',
    ],
    ['of several, that with the fewest segments', '', [['a.b.1.ads', 'H.2.ads']], 'H.2.ads'],
    ['fewest segments come before the order of keys', '', [['a.b.1.ads'], ['H.2.ads']], 'H.2.ads'],
    ['then the first of the server keys', '', [['H.2.ads'], ['H.1.ads']], 'H.2.ads'],
    ['then the lowest instance number', '', [['H.10.ads', 'H.9.ads']], 'H.9.ads'],
    [
      'a number comes before an instance that is none',
      '',
      [['H.main.ads', 'H.77.ads']],
      'H.77.ads',
    ],
    [
      'the lowest instance number behind a later key too',
      '',
      [[], ['H.10.ads', 'H.9.ads']],
      'H.9.ads',
    ],
    ['then the id', '', [['b.1.ads', 'a.1.ads']], 'a.1.ads'],
    ['then the id, whichever came first', '', [['a.1.ads', 'b.1.ads']], 'a.1.ads'],
    ['host names hold dots', '7', [['lseg1.bgp59.com.7.ads']], 'lseg1.bgp59.com.7.ads'],
  ];
  for (const [sentence, hint, keys, wanted] of table)
    it(sentence, () => {
      const seen = keys.map((roots, index) => shows(String(index), ...roots));
      expect(nameOf(choose(seen, { app: 'ads', hint }))).to.equal(wanted);
    });

  it('believes what a root states of itself before its id', () => {
    const stated = root('whatever', { application: 'ads', instance: '5' });
    const seen = [shows('82', stated, 'H.1.ads')];
    expect(nameOf(choose(seen, { app: 'ads', hint: '5' }))).to.equal('whatever');
    const denied = root('H.1.ads', { application: 'adh' });
    expect(nameOf(choose([shows('82', denied)], ADS))).to.equal('none');
  });

  it('names the roots not taken, best first', () => {
    const choice = choose(
      [shows('82', 'H.3.ads', 'H.1.adh', 'H.1.ads'), shows('9', 'H.2.ads')],
      ADS,
    );
    expect(choice).to.deep.include({ serverKey: '82', others: ['H.3.ads', 'H.2.ads'] });
  });

  it('considers the first of very many roots, and says how many there are', () => {
    const other = (i: number) => `H.${i}.adh`;
    const roots = (count: number) => Array.from({ length: count }, (_, i) => other(i));
    expect(nameOf(choose([shows('82', ...roots(16_383), 'H.1.ads')], ADS))).to.equal('H.1.ads');
    const beyond = choose([shows('82', ...roots(16_384), 'H.1.ads')], ADS);
    expect(beyond.kind === 'none' && beyond.reason).to.equal(
      'a root of application ads, there is ' +
        'H.0.adh, H.1.adh, H.2.adh, H.3.adh, H.4.adh and 16380 more',
    );
  });

  it('chooses only when the directories are read, lest a later root be the better one', () => {
    const reading = { ...shows('82', 'H.2.ads'), hasMore: true };
    const reason = 'the directory of server key 82, which is being read';
    expect(choose([reading], ADS)).to.deep.include({ kind: 'none', reason });
    expect(nameOf(choose([reading, shows('456', 'H.1.ads')], ADS))).to.equal('none');
  });

  it('does not wait for a directory that never rests', () => {
    const restless = { ...shows('82'), hasMore: true, isUnstable: true };
    expect(nameOf(choose([restless, shows('456', 'H.1.ads')], ADS))).to.equal('H.1.ads');
  });

  const formers = [
    ['the former root before a better one', { serverKey: '456', root: 'a.b.9.ads' }, 'a.b.9.ads'],
    ['no other root of the former key', { serverKey: '456', root: 'gone.ads' }, 'H.1.ads'],
    [
      'no root of the former id behind another key',
      { serverKey: '82', root: 'H.2.ads' },
      'H.1.ads',
    ],
    ['a former root only if it fits', { serverKey: '82', root: 'H.1.adh' }, 'H.1.ads'],
  ] as const;
  for (const [sentence, former, wanted] of formers)
    it(`takes ${sentence}`, () => {
      const seen = [shows('82', 'H.1.adh', 'H.1.ads'), shows('456', 'H.2.ads', 'a.b.9.ads')];
      expect(nameOf(choose(seen, { ...ADS, former }))).to.equal(wanted);
    });

  const reasons: readonly (readonly [string, readonly PollResult[], string, string])[] = [
    [
      'every key when there are no roots',
      [unseen('absent', 'no segment a', '82'), unseen('dead', 'publisher died', '456')],
      '',
      'a root of application ads, server key 82: no segment a; server key 456: publisher died',
    ],
    [
      'the roots that do not fit',
      [shows('82', 'H.1.adh', 'G.1.adh')],
      '',
      'a root of application ads, there is H.1.adh, G.1.adh',
    ],
    [
      'the hint that none fits',
      [shows('82', 'H.1.ads')],
      '7',
      'a root of application ads that fits instance 7, there is H.1.ads',
    ],
    [
      'five roots',
      [shows('82', ...['1', '2', '3', '4', '5'].map((n) => `H.${n}.x`))],
      '',
      'a root of application ads, there is H.1.x, H.2.x, H.3.x, H.4.x, H.5.x',
    ],
    [
      'five roots at most',
      [shows('82', ...['1', '2', '3', '4', '5', '6', '7'].map((n) => `H.${n}.x`))],
      '',
      'a root of application ads, there is H.1.x, H.2.x, H.3.x, H.4.x, H.5.x and 2 more',
    ],
  ];
  for (const [what, seen, hint, reason] of reasons)
    it(`when there is none, the reason names ${what}`, () => {
      expect(choose(seen, { app: 'ads', hint })).to.deep.include({ kind: 'none', reason });
    });

  it('tells of the publisher that comes nearest to being there', () => {
    const absent = unseen('absent', 'no segment', '82');
    const dead = unseen('dead', 'publisher died', '456');
    expect(choose([absent, dead], ADS)).to.have.nested.property('publisher.state', 'dead');
    expect(choose([absent], ADS)).to.have.nested.property('publisher.state', 'absent');
    expect(choose([dead, shows('9', 'H.1.adh')], ADS)).to.have.nested.property(
      'publisher.state',
      'live',
    );
    expect(choose([], ADS)).to.have.nested.property('publisher.state', 'absent');
  });
});

describe('chooseRoot', () => {
  const one = root('H.1.ads');
  const two = root('H.2.ads');
  const source = sourceOf(one, two);
  const seen = {
    '1': shows('82', one),
    '2': pollResult({ source: sourceOf(two) }),
    b: pollResult({ source }),
    t: pollResult({ source, tick: 9 }),
    x: unseen('dead', 'publisher died'),
    y: unseen('absent', 'no segment'),
  };
  const names = (pollResults: readonly Observable<PollResult>[], wish: DesiredRoot = ADS) =>
    chooseRoot(pollResults, wish).pipe(map(nameOf));
  const taken = { '1': 'H.1.ads', '2': 'H.2.ads', n: 'none' };

  it(
    'tells of a choice once, whatever else its publisher does',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const sight$ = hot('    -b-t-t-b-|', seen);
      const choices = '       -1-------|';
      const subscribed = '    ^--------!';

      expectObservable(names([sight$])).toBe(choices, taken);
      expectSubscriptions(sight$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'sticks to a root when a better one appears, until that root is lost',
    marbles(({ hot, expectObservable }) => {
      const roots = sourceOf(two);
      const live = pollResult({ source: roots });
      const step = {
        s: () => undefined,
        a: () => roots.roots.add(one),
        d: () => roots.roots.delete(two),
      };
      const sight$ = hot('    -s-a-s-d-s-', step).pipe(
        map((change) => {
          change();
          return live;
        }),
      );
      const choices = '       -2-----1---';

      expectObservable(names([sight$])).toBe(choices, taken);
    }),
  );

  it(
    'tells once why there is no root, and again when the reason changes',
    marbles(({ hot, expectObservable }) => {
      const sight$ = hot('    -x-x-y-y---', seen);
      const choices = '       -n---n-----';

      expectObservable(names([sight$])).toBe(choices, taken);
    }),
  );

  it(
    'prefers the former root until a root is chosen, and not after that',
    marbles(({ hot, expectObservable }) => {
      const former = { serverKey: '82', root: 'H.2.ads' };
      const sight$ = hot('    -x-b-x-b---', seen);
      const choices = '       -n-2-n-1---';

      expectObservable(names([sight$], { ...ADS, former })).toBe(choices, taken);
    }),
  );

  it(
    'chooses anew when the publisher is lost, and again when it is back',
    marbles(({ hot, expectObservable }) => {
      const sight$ = hot('    -b-x-y-b---', seen);
      const choices = '       -1-n-n-1---';

      expectObservable(names([sight$])).toBe(choices, taken);
    }),
  );

  it(
    'takes the same id in a new generation for another root',
    marbles(({ hot, expectObservable }) => {
      const again = { ...seen, '2': shows('82', root('H.1.ads')) };
      const sight$ = hot('    -1-2---', again);
      const choices = '       -1-1---';

      expectObservable(names([sight$])).toBe(choices, taken);
    }),
  );

  it(
    'waits for a first pollResult of every server key',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const first$ = hot('    -x-----|   ', seen);
      const second$ = hot('   ---1-----| ', seen);
      const choices = '       ---1-----| ';
      const subscribed = '    ^--------! ';

      expectObservable(names([first$, second$])).toBe(choices, taken);
      expectSubscriptions(second$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'changes to another server key when its root is lost there',
    marbles(({ hot, expectObservable }) => {
      const first$ = hot('    -1---x---1-', { '1': shows('82', one), x: unseen('dead', 'died') });
      const second$ = hot('   -2---------', { '2': shows('456', two) });
      const choices = '       -1---2-----'; // and stays with 456: the choice is sticky

      expectObservable(names([first$, second$])).toBe(choices, taken);
    }),
  );

  it(
    'passes an error on',
    marbles(({ hot, expectObservable }) => {
      expectObservable(names([hot('-b-#', seen)])).toBe('-1-#', taken);
    }),
  );

  it(
    'leaves every server key with its consumer',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const first$ = hot('    -b-x-b', seen);
      const second$ = hot('   -y----', seen);
      const leaves = '        ^---! ';

      expectObservable(names([first$, second$]), leaves).toBe('-1-n-', taken);
      expectSubscriptions(first$.subscriptions).toBe(leaves);
      expectSubscriptions(second$.subscriptions).toBe(leaves);
    }),
  );

  it(
    'takes sources that have everything at once',
    marbles(({ expectObservable }) => {
      expectObservable(names([of(seen.x, seen.b, seen.t)])).toBe('(n1|)', taken);
    }),
  );
});
