// What moves and what stands still, and how soon each is looked at again.
import { expect } from 'chai';
import { asyncScheduler, map } from 'rxjs';
import {
  MOVING_MS,
  Movement,
  STILL_MS,
  isSameSighting,
  isSameStructure,
} from '#app/streams/poll.js';
import type { Sighting } from '#app/streams/watch.js';
import { marbles } from '../support/marbles.js';
import { root, sighting, sourceOf, unseen } from '../support/sightings.js';

describe('Movement', () => {
  const source = sourceOf();
  const seen = {
    a: sighting({ source }),
    b: sighting({ source, tick: 1 }),
    m: sighting({ source, hasMore: true }),
    t: sighting({ source, isTidying: true }),
    r: sighting({ source, hasMore: true, isRestless: true }),
    x: unseen('absent', 'no segment'),
  };
  const told = {
    p: [MOVING_MS, false],
    s: [STILL_MS, true],
    n: [STILL_MS, false],
    o: [0, false],
    f: [0, true],
  };

  /** Picture of sightings to pictures of waits; `s` alone is still enough to wait for its futex. */
  const pictures = [
    ['polls a segment that moved within the last second', 'a 499ms a 499ms a', 'p 499ms p 499ms s'],
    [
      'polls on when a wake-up was counted',
      '             a 1099ms b 899ms b',
      'p 1099ms p 899ms p',
    ],
    ['looks seldom at a segment that stands still', '      a 1999ms a', '      p 1999ms s'],
    ['polls again once a still segment moves', '           a 1999ms b', '      p 1999ms p'],
    ['looks at once while memory is being freed', '       a 1999ms t', '      p 1999ms f'],
    ['looks at once for changes that wait', '              a 1999ms m', '      p 1999ms o'],
    [
      'polls a directory that never rests',
      '            a 1999ms r 499ms r',
      '  p 1999ms p 499ms p',
    ],
    ['waits for no futex of a segment that is not there', 'x 1999ms x', '      p 1999ms n'],
  ] as const;
  for (const [sentence, sightings, waits] of pictures)
    it(
      sentence,
      marbles(({ hot, expectObservable }) => {
        const movement = new Movement(() => asyncScheduler.now());
        const wait$ = hot(sightings, seen).pipe(
          map((each) => [movement.next(each), movement.isStill]),
        );
        expectObservable(wait$).toBe(waits.trim(), told);
      }),
    );

  it('comes to the next multiple of its period, in which others come too, but not too soon', () => {
    let now = 0;
    const movement = new Movement(() => now);
    const waits = [0, 30, 40.5, 90, 230].map((at) => {
      now = at;
      return movement.next({ ...seen.a, tick: at });
    });
    expect(waits).to.deep.equal([100, 70, 60, 110, 70]);
  });

  it('looks seldom at a segment whose changes can wait', () => {
    let now = 0;
    const movement = new Movement(() => now);
    const next = (at: number, isUrgent: boolean) => {
      now = at;
      return movement.next({ ...seen.a, tick: at }, isUrgent);
    };
    expect([next(0, false), next(1000, true), next(1100, false)]).to.deep.equal([1000, 100, 900]);
    expect(movement.next(seen.m, false), 'not if there is more to read').to.equal(0);
  });

  it('is not still before the first sighting', () => {
    expect(new Movement(() => asyncScheduler.now()).isStill).to.equal(false);
  });
});

describe('isSameSighting', () => {
  const source = sourceOf();
  const a = sighting({ source });
  const stalled = (reason: string) =>
    sighting({ source, publisher: { state: 'stalled', reason, heartbeatAgeSeconds: 4 } });

  const same: readonly (readonly [string, Sighting, Sighting])[] = [
    ['nothing differs', a, sighting({ source })],
    ['only the heartbeat aged', a, { ...a, publisher: { ...a.publisher, heartbeatAgeSeconds: 2 } }],
    ['changes were taken in before', sighting({ source, changes: [added()] }), a],
    ['a stalled publisher is only older', stalled('not for 4.0 s'), stalled('not for 4.1 s')],
  ];
  const different: readonly (readonly [string, Sighting, Sighting])[] = [
    ['the generation', a, sighting({ source: sourceOf() })],
    ['the tick', a, sighting({ source, tick: 1 })],
    ['the state of the publisher', a, stalled('not for 4.0 s')],
    ['that a stalled publisher is back', stalled('not for 4.0 s'), a],
    ['why nothing is there', unseen('corrupt', 'a CRC'), unseen('corrupt', 'a length')],
    ['changes', a, sighting({ source, changes: [added()] })],
    ['whether more changes wait', a, sighting({ source, hasMore: true })],
    [
      'whether it ever rests',
      sighting({ source, hasMore: true }),
      sighting({ source, hasMore: true, isRestless: true }),
    ],
    ['dropped objects', a, sighting({ source, drops: { objects: 1, variables: 0 } })],
    ['dropped variables', a, sighting({ source, drops: { objects: 0, variables: 1 } })],
  ];
  for (const [what, before, after] of same)
    it(`holds when ${what}`, () => expect(isSameSighting(before, after)).to.equal(true));
  for (const [what, before, after] of different)
    it(`tells ${what} apart`, () => expect(isSameSighting(before, after)).to.equal(false));

  for (const [what, before, after] of different) {
    const isTick = what === 'the tick';
    it(`has the same structure ${isTick ? 'with another tick' : `only with the same: ${what}`}`, () =>
      expect(isSameStructure(before, after)).to.equal(isTick));
  }

  function added() {
    return { kind: 'object-added', object: root('H.1.ads') } as const;
  }
});
