// Tests the state that a reader concludes for a publisher from every kind of evidence (format page, section
// 9).
import { expect } from 'chai';
import { judge } from '#app/native/segment/liveness.js';
import type { SegmentFacts } from '#app/native/segment/liveness.js';

const SECOND = 1_000_000_000n;
const LIVE_FACTS: SegmentFacts = {
  ...{ state: 1, nameState: 'kept', isLocked: true },
  ...{ heartbeatNs: 100n * SECOND, heartbeatPeriodNs: SECOND, nowNs: 101n * SECOND },
};

const VERDICTS: readonly (readonly [string, Partial<SegmentFacts>, string, string, number?])[] = [
  ['its state, name, lock and heartbeat are normal', {}, 'live', 'publisher is live', 1],
  [
    'its heartbeat period is 0 (no heartbeat)',
    { heartbeatPeriodNs: 0n, heartbeatNs: 0n },
    'live',
    'publisher is live',
  ],
  ['the heartbeat is 5 periods old', { nowNs: 105n * SECOND }, 'live', 'publisher is live', 5],
  [
    'the heartbeat is older than 5 periods',
    { nowNs: 105n * SECOND + 1n },
    'stalled',
    'no heartbeat from the publisher for 5.0 s',
    5.000000001,
  ],
  [
    'a heartbeat with a short period is late by less than 3 seconds',
    { heartbeatPeriodNs: 1000n, nowNs: 103n * SECOND },
    'live',
    'publisher is live',
    3,
  ],
  [
    'a heartbeat with a short period is late by more than 3 seconds',
    { heartbeatPeriodNs: 1000n, nowNs: 103n * SECOND + 1n },
    'stalled',
    'no heartbeat from the publisher for 3.0 s',
    3.000000001,
  ],
  ['the heartbeat is ahead of the clock', { nowNs: 0n }, 'live', 'publisher is live', 0],
  ['the state is building', { state: 0 }, 'building', 'publisher is still building its segment'],
  ['the state is closed', { state: 2 }, 'closed', 'publisher closed its segment'],
  [
    'the state is closed, and the name and the lock are gone',
    { state: 2, nameState: 'removed', isLocked: false },
    'closed',
    'publisher closed its segment',
  ],
  ['the state is superseded', { state: 3 }, 'superseded', 'segment was replaced by a newer one'],
  [
    'the name refers to another file',
    { nameState: 'replaced' },
    'superseded',
    'segment was replaced by a newer one',
  ],
  [
    'the name refers to another file and nobody holds the lock',
    { nameState: 'replaced', isLocked: false },
    'superseded',
    'segment was replaced by a newer one',
  ],
  [
    'the state is superseded, and no file has the name of the segment',
    { state: 3, nameState: 'removed', isLocked: false },
    'superseded',
    'segment was replaced by a newer one',
  ],
  [
    'no file has the name of the segment',
    { nameState: 'removed' },
    'absent',
    'segment was removed from shared memory',
  ],
  [
    'no file has the name of the segment, and nobody holds the lock',
    { nameState: 'removed', isLocked: false },
    'absent',
    'segment was removed from shared memory',
  ],
  ['nobody holds the lock', { isLocked: false }, 'dead', 'publisher died without closing'],
  [
    'nobody holds the lock of an unfinished segment',
    { state: 0, isLocked: false },
    'dead',
    'publisher died without closing',
  ],
  ['the state is unknown', { state: 4 }, 'corrupt', 'segment is corrupt: its state is 4'],
];

describe('A publisher (segment format, section 9)', () => {
  for (const [when, evidence, state, reason, age] of VERDICTS)
    it(`is ${state} ("${reason}") when ${when}`, () =>
      expect(judge({ ...LIVE_FACTS, ...evidence }).publisher).to.deep.equal({
        ...{ state, reason },
        ...(age !== undefined && { heartbeatAgeSeconds: age }),
      }));

  const SERVED = new Set(['live', 'stalled']);
  for (const [when, evidence, state] of VERDICTS)
    it(`is ${SERVED.has(state) ? '' : 'not '}served when ${when}`, () =>
      expect(judge({ ...LIVE_FACTS, ...evidence }).isServed).to.equal(SERVED.has(state)));
});

/**
 * Each row: how many seconds a stalled publisher is served, the evidence, whether the publisher is served, and why.
 */
const STALLED: readonly (readonly [bigint, Partial<SegmentFacts>, boolean, string])[] = [
  [2n, { nowNs: 105n * SECOND + 1n }, true, 'no heartbeat from the publisher for 5.0 s'],
  [2n, { nowNs: 107n * SECOND }, true, 'no heartbeat from the publisher for 7.0 s'],
  [2n, { nowNs: 107n * SECOND + 1n }, false, 'no heartbeat from the publisher for more than 7 s'],
  [2n, { nowNs: 900n * SECOND }, false, 'no heartbeat from the publisher for more than 7 s'],
  [
    ...([1n, { nowNs: 104n * SECOND + 1n, heartbeatPeriodNs: 500_000_000n }] as const),
    ...([false, 'no heartbeat from the publisher for more than 4 s'] as const),
  ],
  [0n, { nowNs: 10_000n * SECOND }, true, 'no heartbeat from the publisher for 9900.0 s'],
];

describe('A publisher with an old heartbeat (segment format, section 9)', () => {
  for (const [seconds, evidence, isServed, reason] of STALLED)
    it(`is ${isServed ? '' : 'not '}served ${(evidence.nowNs ?? 0n) - LIVE_FACTS.heartbeatNs} ns after the heartbeat if the limit is ${seconds} s, with the reason "${reason}"`, () => {
      const judged = judge({ ...LIVE_FACTS, ...evidence }, seconds * SECOND);
      expect([judged.isServed, judged.publisher.state]).to.deep.equal([isServed, 'stalled']);
      expect(judged.publisher.reason).to.equal(reason);
    });

  it('stays live for ever if it has no heartbeat period', () => {
    const evidence = { heartbeatPeriodNs: 0n, nowNs: 10_000n * SECOND };
    expect(judge({ ...LIVE_FACTS, ...evidence }, SECOND).isServed).to.equal(true);
  });
});
