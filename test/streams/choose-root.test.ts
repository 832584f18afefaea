// Tests which root a target exports. Spec 1.3.5.
import { expect } from 'chai';
import type { ManagedObject } from '#app/model.js';
import { RootChooser, choose } from '#app/streams/choose-root.js';
import type { DesiredRoot, RootChoice } from '#app/streams/choose-root.js';
import { resultWithoutSource } from '#app/streams/poller.js';
import type { PollResult } from '#app/streams/poller.js';
import { root, pollResult, sourceOf, unseen } from '../support/poll-results.js';

const ADS = { app: 'ads', hint: '' };
const nameOf = (choice: RootChoice) => (choice.kind === 'chosen' ? choice.root.name : 'none');
const polled = (serverKey: string, ...roots: readonly (string | ManagedObject)[]): PollResult =>
  pollResult({
    serverKey,
    source: sourceOf(...roots.map((each) => (typeof each === 'string' ? root(each) : each))),
  });

describe('choose', () => {
  /** The title, the hint, the roots of each server key in order, and the id of the root to choose. */
  const table: readonly (readonly [string, string, readonly (readonly string[])[], string])[] = [
    ['selects the root whose full id is the hint', 'H.2.ads', [['H.1.ads', 'H.2.ads']], 'H.2.ads'],
    [
      'selects the root whose full id is the hint, even if the id of another root has fewer parts',
      'a.b.2.ads',
      [['H.1.ads', 'a.b.2.ads']],
      'a.b.2.ads',
    ],
    [
      'selects the root whose full id is the hint, even if the hint is also the instance of another root',
      'H.1.ads',
      [['x.H.1.ads.ads', 'H.1.ads']],
      'H.1.ads',
    ],
    [
      'selects the root whose instance number is the hint',
      '2',
      [['H.1.ads', 'H.2.ads']],
      'H.2.ads',
    ],
    [
      'selects only a root of the application if the hint is an instance number',
      '2',
      [['H.2.adh', 'G.2.ads']],
      'G.2.ads',
    ],
    [
      'selects a root of the application if the hint is empty',
      '',
      [['H.1.adh', 'H.1.ads']],
      'H.1.ads',
    ],
    ['does not select a root of another application', '', [['H.1.adh']], 'none'],
    [
      'does not select a root of another application, even if the hint is its full id',
      'H.1.adh',
      [['H.1.adh']],
      'none',
    ],
    ['selects no root whose instance differs from the hint', '3', [['H.1.ads', 'H.2.ads']], 'none'],
    ['selects no root whose id differs from the hint', 'H.3.ads', [['H.1.ads']], 'none'],
    [
      'compares the application with the whole last part of an id',
      '',
      [['H.1.xads', 'H.1.ads2']],
      'none',
    ],
    [
      'does not select an object below a root of the application',
      '',
      [['H.1.ads.1.sourceThread', 'H.9.ads']],
      'H.9.ads',
    ],
    ['prefers the root whose id has the fewest parts', '', [['a.b.1.ads', 'H.2.ads']], 'H.2.ads'],
    [
      'prefers a root whose id has fewer parts, even on a later server key',
      '',
      [['a.b.1.ads'], ['H.2.ads']],
      'H.2.ads',
    ],
    ['prefers the first of the server keys', '', [['H.2.ads'], ['H.1.ads']], 'H.2.ads'],
    ['prefers the lowest instance number', '', [['H.10.ads', 'H.9.ads']], 'H.9.ads'],
    [
      'prefers a root whose instance is a number to a root whose instance is a word',
      '',
      [['H.main.ads', 'H.77.ads']],
      'H.77.ads',
    ],
    [
      'prefers the lowest instance number if only a later server key has roots',
      '',
      [[], ['H.10.ads', 'H.9.ads']],
      'H.9.ads',
    ],
    ['prefers the lowest id', '', [['b.1.ads', 'a.1.ads']], 'a.1.ads'],
    ['prefers the lowest id in any order of roots', '', [['a.1.ads', 'b.1.ads']], 'a.1.ads'],
    ['accepts host names with dots', '7', [['lseg1.bgp59.com.7.ads']], 'lseg1.bgp59.com.7.ads'],
  ];
  for (const [title, hint, keys, wanted] of table)
    it(title, () => {
      const seen = keys.map((roots, index) => polled(String(index), ...roots));
      expect(nameOf(choose(seen, { app: 'ads', hint }))).to.equal(wanted);
    });

  it('prefers the stated identity of a root to the identity in its id', () => {
    const stated = root('whatever', { application: 'ads', instance: '5' });
    const seen = [polled('82', stated, 'H.1.ads')];
    expect(nameOf(choose(seen, { app: 'ads', hint: '5' }))).to.equal('whatever');
    const denied = root('H.1.ads', { application: 'adh' });
    expect(nameOf(choose([polled('82', denied)], ADS))).to.equal('none');
  });

  it('returns the other roots, best first', () => {
    const choice = choose(
      [polled('82', 'H.3.ads', 'H.1.adh', 'H.1.ads'), polled('9', 'H.2.ads')],
      ADS,
    );
    expect(choice).to.deep.include({ serverKey: '82', others: ['H.3.ads', 'H.2.ads'] });
  });

  it('considers only the first 16,384 roots of a server key, and reports this if there are more', () => {
    const other = (i: number) => `H.${i}.adh`;
    const roots = (count: number) => Array.from({ length: count }, (_, i) => other(i));
    expect(nameOf(choose([polled('82', ...roots(16_383), 'H.1.ads')], ADS))).to.equal('H.1.ads');
    const beyond = choose([polled('82', ...roots(16_384), 'H.1.ads')], ADS);
    expect(beyond.kind === 'none' && beyond.reason).to.equal(
      'a root of application ads among the first 16,384 of 16,385 roots; found only ' +
        'H.0.adh, H.1.adh, H.2.adh, H.3.adh, H.4.adh and 16380 more',
    );
    const hinted = choose([polled('82', ...roots(16_385)), polled('83', 'H.1.ads')], {
      ...ADS,
      hint: '7',
    });
    expect(hinted.kind === 'none' && hinted.reason).to.contain(
      'a root of application ads that fits instance 7 among the first 16,385 of 16,386 roots; ',
    );
  });

  it('waits until all directories are read', () => {
    const reading = { ...polled('82', 'H.2.ads'), hasMore: true };
    const reason = 'the directory of server key 82, which is being read';
    expect(choose([reading], ADS)).to.deep.include({ kind: 'none', reason });
    expect(nameOf(choose([reading, polled('456', 'H.1.ads')], ADS))).to.equal('none');
  });

  it('states the reason of a poller that finds no source, while it looks for one', () => {
    const looking = {
      ...resultWithoutSource('82', { state: 'absent', reason: 'there is no folder' }),
      hasMore: true,
    };
    const reason = 'a root of application ads; server key 82: there is no folder';
    expect(choose([looking], ADS)).to.deep.include({ kind: 'none', reason });
  });

  it('does not wait for a directory that changes faster than polls can read it', () => {
    const restless = { ...polled('82'), hasMore: true, isUnstable: true };
    expect(nameOf(choose([restless, polled('456', 'H.1.ads')], ADS))).to.equal('H.1.ads');
  });

  const formers = [
    [
      'the previous root even if another root is better',
      { serverKey: '456', id: 'a.b.9.ads' },
      'a.b.9.ads',
    ],
    [
      'the best root if the previous root no longer exists',
      { serverKey: '456', id: 'gone.ads' },
      'H.1.ads',
    ],
    [
      'the best root if the id of the previous root exists only on another server key',
      { serverKey: '82', id: 'H.2.ads' },
      'H.1.ads',
    ],
    [
      'the best root if the previous root belongs to another application',
      { serverKey: '82', id: 'H.1.adh' },
      'H.1.ads',
    ],
  ] as const;
  for (const [what, formerRoot, wanted] of formers)
    it(`selects ${what}`, () => {
      const seen = [polled('82', 'H.1.adh', 'H.1.ads'), polled('456', 'H.2.ads', 'a.b.9.ads')];
      expect(nameOf(choose(seen, { ...ADS, formerRoot }))).to.equal(wanted);
    });

  const reasons: readonly (readonly [string, readonly PollResult[], string, string])[] = [
    [
      'the state of every server key',
      [unseen('absent', 'no segment a', '82'), unseen('dead', 'publisher died', '456')],
      '',
      'a root of application ads; server key 82: no segment a; server key 456: publisher died',
    ],
    [
      'the roots of other applications',
      [polled('82', 'H.1.adh', 'G.1.adh')],
      '',
      'a root of application ads; found only H.1.adh, G.1.adh',
    ],
    [
      'the hint',
      [polled('82', 'H.1.ads')],
      '7',
      'a root of application ads that fits instance 7; found only H.1.ads',
    ],
    [
      'five roots',
      [polled('82', ...['1', '2', '3', '4', '5'].map((n) => `H.${n}.x`))],
      '',
      'a root of application ads; found only H.1.x, H.2.x, H.3.x, H.4.x, H.5.x',
    ],
    [
      'at most five roots',
      [polled('82', ...['1', '2', '3', '4', '5', '6', '7'].map((n) => `H.${n}.x`))],
      '',
      'a root of application ads; found only H.1.x, H.2.x, H.3.x, H.4.x, H.5.x and 2 more',
    ],
  ];
  for (const [what, seen, hint, reason] of reasons)
    it(`names ${what} in the reason if no root matches`, () => {
      expect(choose(seen, { app: 'ads', hint })).to.deep.include({ kind: 'none', reason });
    });

  it('reports the publisher that has the best state on any server key', () => {
    const absent = unseen('absent', 'no segment', '82');
    const dead = unseen('dead', 'publisher died', '456');
    expect(choose([absent, dead], ADS)).to.have.nested.property('publisher.state', 'dead');
    expect(choose([absent], ADS)).to.have.nested.property('publisher.state', 'absent');
    expect(choose([dead, polled('9', 'H.1.adh')], ADS)).to.have.nested.property(
      'publisher.state',
      'live',
    );
    expect(choose([], ADS)).to.have.nested.property('publisher.state', 'absent');
  });
});

describe('a root chooser', () => {
  const one = root('H.1.ads');
  const two = root('H.2.ads');
  const both = pollResult({ source: sourceOf(one, two) });
  const dead = unseen('dead', 'publisher died');
  const absent = unseen('absent', 'no segment');
  /** Returns the name of each new choice, and `-` for the same choice as before. */
  const choices = (rounds: readonly (readonly PollResult[])[], desired: DesiredRoot = ADS) => {
    const chooser = new RootChooser(desired);
    let last: RootChoice | undefined;
    return rounds.map((results) => {
      const choice = chooser.choose(results);
      const name = choice === last ? '-' : nameOf(choice);
      last = choice;
      return name;
    });
  };
  const [ONE, TWO, NONE] = ['H.1.ads', 'H.2.ads', 'none'];

  it('keeps its choice while further poll results confirm it', () => {
    const notified = { ...both, notifications: 9 };
    expect(choices([[both], [notified], [both]])).to.deep.equal([ONE, '-', '-']);
  });

  it('keeps a root until it is lost, even if a better one appears', () => {
    const source = sourceOf(two);
    const chooser = new RootChooser(ADS);
    const choose = () => nameOf(chooser.choose([pollResult({ source })]));
    const first = choose();
    source.roots.add(one);
    const second = choose();
    source.roots.delete(two);
    expect([first, second, choose()]).to.deep.equal([TWO, TWO, ONE]);
  });

  it('makes a new choice without a root only if the reason changes', () => {
    expect(choices([[dead], [dead], [absent], [absent]])).to.deep.equal([NONE, '-', NONE, '-']);
  });

  it('prefers the previous root only for the first choice', () => {
    const formerRoot = { serverKey: '82', id: 'H.2.ads' };
    const rounds = [[dead], [both], [dead], [both]];
    expect(choices(rounds, { ...ADS, formerRoot })).to.deep.equal([NONE, TWO, NONE, ONE]);
  });

  it('makes a new choice if a new generation has a root with the same id', () => {
    expect(choices([[polled('82', one)], [polled('82', root('H.1.ads'))]])).to.deep.equal([
      ...[ONE, ONE],
    ]);
  });

  it('makes a new choice if a root with the same id is removed and added between two poll results', () => {
    const source = sourceOf(one);
    const chooser = new RootChooser(ADS);
    const first = chooser.choose([pollResult({ source })]);
    source.roots.clear();
    source.roots.add(root('H.1.ads'));
    const second = chooser.choose([pollResult({ source })]);
    expect([nameOf(second), second === first]).to.deep.equal([ONE, false]);
  });

  it('chooses a root on another server key when the chosen root is lost, and keeps it', () => {
    const first = polled('82', one);
    const second = polled('456', two);
    const rounds = [
      [first, second],
      [dead, second],
      [first, second],
    ];
    expect(choices(rounds)).to.deep.equal([ONE, TWO, '-']);
  });
});
