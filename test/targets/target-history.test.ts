// TargetHistory: the time of the last change of readiness and of the newest value.
import { expect } from 'chai';
import { unknownState } from '#app/streams/report.js';
import type { TargetState } from '#app/streams/report.js';
import { TargetHistory } from '#app/targets/target-history.js';

describe('the history of a target', () => {
  const unknown = unknownState('82');
  const syncing = { ...unknown, root: 'h.1.ads', notifications: 7 };
  const ready = { ...syncing, isReady: true };
  const view: TargetState['view'] = {
    ...{ series: 0, asOfNs: undefined, droppedObjects: 0, droppedVariables: 0 },
    ...{ rowsWithoutVariable: 0, variablesWithoutRow: 0, filtersUnmatched: 0, rowsOfWrongType: 0 },
    missing: { clashingSeries: 0, omittedSeries: 0, omittedObjects: 0, omittedVariables: 0 },
  };
  const timesAfter = (...state: readonly (readonly [object, number])[]) => {
    const history = new TargetHistory(1000);
    for (const [each, unixMs] of state) history.note({ ...unknown, ...each }, unixMs);
    return history.times;
  };
  const notified = (unixMs: number) => ({ unixMs, by: 'notified' });

  for (const [title, state, wanted] of [
    ['begins at the creation of the target', [], { since: 1000, newest: undefined }],
    ['does not treat a root as readiness', [[syncing, 2000]], { since: 1000, newest: undefined }],
    [
      'takes the time of readiness from the first ready report',
      [
        [syncing, 2000],
        [ready, 3000],
        [ready, 4000],
      ],
      { since: 3000, newest: undefined },
    ],
    [
      'takes the time of a loss of readiness from the first report without readiness',
      [
        [ready, 3000],
        [unknown, 5000],
        [unknown, 6000],
      ],
      { since: 5000, newest: undefined },
    ],
    [
      'treats a notification as a new value, except in the first report',
      [
        [ready, 3000],
        [{ ...ready, notifications: 8 }, 4000],
        [{ ...ready, notifications: 8 }, 5000],
      ],
      { since: 3000, newest: notified(4000) },
    ],
    [
      'does not compare notifications of different roots',
      [
        [ready, 3000],
        [{ ...ready, notifications: 8 }, 4000],
        [{ ...ready, root: 'h.2.ads', notifications: 99 }, 5000],
      ],
      { since: 3000, newest: undefined },
    ],
    [
      'keeps the time of the newest value after a move until the new partition has polled',
      [
        [ready, 3000],
        [{ ...ready, notifications: 8 }, 4000],
        [{ ...ready, root: '', notifications: undefined }, 5000],
        [{ ...ready, notifications: 8 }, 6000],
      ],
      { since: 3000, newest: notified(4000) },
    ],
    [
      'prefers the timestamp that the publisher states',
      [
        [ready, 3000],
        [{ ...ready, notifications: 8, view: { ...view, asOfNs: 2_500_000_000n } }, 4000],
      ],
      { since: 3000, newest: { unixMs: 2500, by: 'stated' } },
    ],
  ] as const)
    it(title, () => expect(timesAfter(...state)).to.deep.equal(wanted));
});
