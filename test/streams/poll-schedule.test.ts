// Tests PollSchedule: the time until the next poll of a segment.
import { expect } from 'chai';
import { asyncScheduler, map } from 'rxjs';
import {
  ACTIVE_POLL_MS,
  PollSchedule,
  IDLE_POLL_MS,
  isSamePollResult,
  isSameStructure,
} from '#app/streams/poller-pool.js';
import type { PollResult } from '#app/streams/poller.js';
import { marbles } from '../support/marbles.js';
import { root, pollResult, sourceOf, unseen } from '../support/poll-results.js';

describe('a poll schedule', () => {
  const source = sourceOf();
  const seen = {
    a: pollResult({ source }),
    b: pollResult({ source, notifications: 1 }),
    m: pollResult({ source, hasMore: true }),
    t: pollResult({ source, isReclaiming: true }),
    r: pollResult({ source, hasMore: true, isUnstable: true }),
    x: unseen('absent', 'no segment'),
  };
  const waits = {
    p: [ACTIVE_POLL_MS, false],
    s: [IDLE_POLL_MS, true],
    l: [IDLE_POLL_MS - 10, true],
    n: [IDLE_POLL_MS, false],
    f: [0, true],
  };

  /** Marble diagrams of poll results, and of waits. Only at `s` may the pool wait on the futex. */
  const pictures = [
    [
      'polls often within a second after a change of the segment',
      'a 499ms a 499ms a',
      'p 499ms p 499ms s',
    ],
    ['polls often after a notification', '             a 1099ms b 899ms b', 'p 1099ms p 899ms p'],
    ['polls an idle segment rarely', '      a 1999ms a', '      p 1999ms s'],
    ['polls often after an idle segment changes', '           a 1999ms b', '      p 1999ms p'],
    ['polls at once while memory is being freed', '       a 1999ms t', '      p 1999ms f'],
    [
      'polls at once while the source has more changes',
      '              a 1999ms m',
      '      p 1999ms f',
    ],
    [
      'polls an idle segment rarely, even if each read takes several polls',
      '             a 1999ms m 9ms a 989ms m 9ms a',
      '     p 1999ms f 9ms l 989ms f 9ms l',
    ],
    [
      'polls often while a directory changes faster than polls can read it',
      '            a 1999ms r 499ms r',
      '  p 1999ms p 499ms p',
    ],
    ['does not wait on the futex of an absent segment', 'x 1999ms x', '      p 1999ms n'],
  ] as const;
  for (const [title, pollResults, expected] of pictures)
    it(
      title,
      marbles(({ hot, expectObservable }) => {
        let schedule: PollSchedule | undefined;
        const wait$ = hot(pollResults, seen).pipe(
          map((each) => {
            if (schedule === undefined)
              schedule = new PollSchedule(each, () => asyncScheduler.now());
            else schedule.add(each);
            return [schedule.waitMs(true), schedule.isIdle];
          }),
        );
        expectObservable(wait$).toBe(expected.trim(), waits);
      }),
    );

  it('aligns polls to multiples of the period, with a minimum wait', () => {
    let now = 0;
    const schedule = new PollSchedule(seen.a, () => now);
    const waits = [0, 30, 40.5, 90, 230].map((at) => {
      now = at;
      schedule.add({ ...seen.a, notifications: at });
      return schedule.waitMs(true);
    });
    expect(waits).to.deep.equal([100, 70, 60, 110, 70]);
  });

  it('polls a segment rarely while it has no urgent subscriber', () => {
    let now = 0;
    const schedule = new PollSchedule(seen.a, () => now);
    const next = (at: number, needsEachChange: boolean) => {
      now = at;
      schedule.add({ ...seen.a, notifications: at });
      return schedule.waitMs(needsEachChange);
    };
    expect([next(0, false), next(1000, true), next(1100, false)]).to.deep.equal([1000, 100, 900]);
    expect(schedule.waitMs(true), 'once it is urgent').to.equal(100);
    schedule.add(seen.m);
    expect(schedule.waitMs(false), 'not if there is more to read').to.equal(0);
  });
});

describe('the comparison of two poll results', () => {
  const source = sourceOf();
  const a = pollResult({ source });
  const stalled = (reason: string) =>
    pollResult({ source, publisher: { state: 'stalled', reason, heartbeatAgeSeconds: 4 } });

  const same: readonly (readonly [string, PollResult, PollResult])[] = [
    ['nothing differs', a, pollResult({ source })],
    [
      'only the age of the heartbeat differs',
      a,
      { ...a, publisher: { ...a.publisher, heartbeatAgeSeconds: 2 } },
    ],
    ['only the first has directory changes', pollResult({ source, changes: [added()] }), a],
    [
      'only the reason of a stalled publisher differs',
      stalled('not for 4.0 s'),
      stalled('not for 4.1 s'),
    ],
  ];
  const different: readonly (readonly [string, PollResult, PollResult])[] = [
    ['their generations differ', a, pollResult({ source: sourceOf() })],
    ['their notifications differ', a, pollResult({ source, notifications: 1 })],
    ['the publisher stalls only in the second', a, stalled('not for 4.0 s')],
    ['the publisher stalls only in the first', stalled('not for 4.0 s'), a],
    [
      'their reasons for a missing source differ',
      unseen('corrupt', 'a CRC'),
      unseen('corrupt', 'a length'),
    ],
    ['only the second has directory changes', a, pollResult({ source, changes: [added()] })],
    ['only the second has changes left to read', a, pollResult({ source, hasMore: true })],
    [
      'only the second has a directory that changes faster than polls can read it',
      pollResult({ source, hasMore: true }),
      pollResult({ source, hasMore: true, isUnstable: true }),
    ],
    [
      'only the second has dropped objects',
      a,
      pollResult({ source, drops: { objects: 1, variables: 0 } }),
    ],
    [
      'only the second has dropped variables',
      a,
      pollResult({ source, drops: { objects: 0, variables: 1 } }),
    ],
  ];
  for (const [what, before, after] of same)
    it(`treats them as equal if ${what}`, () =>
      expect(isSamePollResult(before, after)).to.equal(true));
  for (const [what, before, after] of different)
    it(`treats them as different if ${what}`, () =>
      expect(isSamePollResult(before, after)).to.equal(false));

  for (const [what, before, after] of different) {
    const isNotification = what === 'their notifications differ';
    it(`finds ${isNotification ? 'the same structure' : 'different structures'} if ${what}`, () =>
      expect(isSameStructure(before, after)).to.equal(isNotification));
  }

  function added() {
    return { kind: 'object-added', object: root('H.1.ads') } as const;
  }
});
