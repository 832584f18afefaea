// Tests TargetHistory: how long ago a target's readiness changed, and how old its newest value is.
import { expect } from 'chai';
import { unknownState } from '#app/streams/report.js';
import type { TargetState } from '#app/streams/report.js';
import { TargetHistory } from '#app/targets/target-history.js';

describe('the history of a target', () => {
  const unknown = unknownState('82');
  const notified = (count: number, generation = 'a') => ({ notifications: { generation, count } });
  const syncing = { ...unknown, root: 'h.1.ads', ...notified(7) };
  const ready = { ...syncing, isReady: true };
  const view: TargetState['view'] = {
    ...{ series: 0, largestFamilies: [], asOfNs: undefined, drops: { objects: 0, variables: 0 } },
    ...{ rowsWithoutVariable: 0, variablesWithoutRow: 0, filtersUnmatched: 0, rowsOfWrongType: 0 },
    renamedLabels: undefined,
    missing: { clashingSeries: 0, omittedSeries: 0, omittedObjects: 0, omittedVariables: 0 },
  };
  /**
   * Returns the ages at 10 s, after these states. The target was created at 1 s, and the Unix time is 100 s
   * ahead of this clock.
   */
  const agesAfter = (states: readonly (readonly [object, number])[]) => {
    const history = new TargetHistory(1000);
    for (const [each, nowMs] of states) history.note({ ...unknown, ...each }, nowMs);
    return history.times(10_000, 110_000);
  };

  for (const [title, states, sinceSeconds] of [
    ['begins at the creation of the target', [], 9],
    ['does not count a target with a root as ready', [[syncing, 2000]], 9],
    [
      'counts readiness from the first report with readiness',
      [
        [syncing, 2000],
        [ready, 3000],
        [ready, 4000],
      ],
      7,
    ],
    [
      'counts a loss of readiness from the first report without readiness',
      [
        [ready, 3000],
        [unknown, 5000],
        [unknown, 6000],
      ],
      5,
    ],
  ] as const)
    it(title, () => expect(agesAfter(states).sinceSeconds).to.equal(sinceSeconds));

  for (const [title, states, newest] of [
    [
      'dates a notification to the first report that includes it',
      [
        [ready, 3000],
        [{ ...ready, ...notified(8) }, 4000],
        [{ ...ready, ...notified(8) }, 5000],
      ],
      { ageSeconds: 6, by: 'notified' },
    ],
    [
      'states only a minimum age for a notification before the first report',
      [
        [ready, 3000],
        [ready, 4000],
      ],
      { ageSeconds: 7, by: 'earlier' },
    ],
    [
      'has no newest value while the publisher has never notified',
      [
        [{ ...ready, ...notified(0) }, 3000],
        [{ ...ready, ...notified(0) }, 4000],
      ],
      undefined,
    ],
    [
      'dates the first notification to the first report that includes it',
      [
        [{ ...ready, ...notified(0) }, 3000],
        [{ ...ready, ...notified(1) }, 4000],
      ],
      { ageSeconds: 6, by: 'notified' },
    ],
    [
      'detects a notification that wraps the number of notifications to 0',
      [
        [{ ...ready, ...notified(2 ** 53 - 1) }, 3000],
        [{ ...ready, ...notified(0) }, 4000],
      ],
      { ageSeconds: 6, by: 'notified' },
    ],
    [
      'does not compare the numbers of notifications of two publishers',
      [
        [{ ...ready, ...notified(9) }, 3000],
        [{ ...ready, ...notified(10) }, 4000],
        [{ ...ready, ...notified(3, 'b') }, 5000],
      ],
      { ageSeconds: 5, by: 'earlier' },
    ],
    [
      'has no newest value once a new publisher replaces the previous one and has never notified',
      [
        [{ ...ready, ...notified(9) }, 3000],
        [{ ...ready, ...notified(0, 'b') }, 5000],
      ],
      undefined,
    ],
    [
      'keeps the time of the last notification when another root of the publisher is selected',
      [
        [ready, 3000],
        [{ ...ready, ...notified(8) }, 4000],
        [{ ...ready, ...notified(8), root: 'h.2.ads' }, 5000],
      ],
      { ageSeconds: 6, by: 'notified' },
    ],
    [
      'keeps the time of the last notification when the root returns',
      [
        [ready, 3000],
        [{ ...ready, ...notified(8) }, 4000],
        [unknown, 5000],
        [{ ...ready, ...notified(8) }, 6000],
      ],
      { ageSeconds: 6, by: 'notified' },
    ],
    [
      'has no newest value without a root',
      [
        [ready, 3000],
        [{ ...ready, ...notified(8) }, 4000],
        [unknown, 5000],
      ],
      undefined,
    ],
    [
      'takes the age of the newest value from the timestamp of the publisher, not from its notifications',
      [
        [ready, 3000],
        [{ ...ready, ...notified(8), view: { ...view, asOfNs: 102_500_000_000n } }, 4000],
      ],
      { ageSeconds: 7.5, by: 'stated' },
    ],
  ] as const)
    it(title, () => expect(agesAfter(states).newest).to.deep.equal(newest));

  it('knows the age of the last notification even if the publisher states a timestamp', () => {
    const history = new TargetHistory(1000);
    history.note({ ...ready, view: { ...view, asOfNs: 102_500_000_000n } }, 4000);
    expect(history.notificationAge(10_000)).to.equal(6);
  });
});
