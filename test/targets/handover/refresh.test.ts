// Tests calls of `refresh()` of a target: the report, the failure, and what happens if the hosting changes
// meanwhile.
import { expect } from 'chai';
import { EMPTY, Subject } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import type { Refresh } from '#app/model.js';
import { unknownState } from '#app/streams/report.js';
import type { Report } from '#app/streams/report.js';
import { Handover } from '#app/targets/handover.js';
import type { HostedTarget, Partition } from '#app/targets/partitions/logical-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const counted = { tasks: [], counts: newCounters() };
const stateOf = (isReady: boolean) => ({ ...unknownState('82'), isReady });
const reportOf = (isReady: boolean): Report => ({
  kind: 'state',
  state: stateOf(isReady),
  ...counted,
});
const REFRESHED: Report = {
  kind: 'refreshed',
  state: stateOf(true),
  ...counted,
  ...{ hasRendered: true, isDirty: false, snapshot: undefined },
};
const REFRESH = { kind: 'refresh', mayRender: true, forms: [] } as const;

/** A partition that reports what the test emits, and records the refreshes. */
class AskedPartition implements Partition {
  readonly #report$ = new Subject<Report>();
  readonly asked: Refresh[] = [];
  constructor(readonly number: number) {}

  host(): HostedTarget {
    return {
      report$: this.#report$,
      refresh: (refresh) => this.asked.push(refresh) > 0,
      queryTree: () => EMPTY,
    };
  }

  report(report: Report): void {
    this.#report$.next(report);
  }

  fail(): void {
    this.#report$.error(new Error('gone'));
  }

  close(): void {
    this.#report$.complete();
  }
}

/** A running target in the first partition, which is ready. */
function setUp() {
  const [first, second] = [new AskedPartition(1), new AskedPartition(2)];
  const handover = new Handover(
    { definition: definitionOf(), partition: first },
    new VirtualClock(),
  );
  const { seen, subscription } = follow(handover.run());
  first.report(reportOf(true));
  const before = seen.length;
  const move = () => follow(handover.change({ partition: second }));
  const kinds = () => seen.slice(before).map(({ kind }) => kind);
  return { first, second, handover, move, kinds, subscription };
}

describe('a refresh of a target', () => {
  it('is answered by a report of the serving hosting', () => {
    const { first, handover, kinds, subscription } = setUp();
    expect(handover.refresh(REFRESH)).to.equal(true);
    expect(first.asked).to.deep.equal([REFRESH]);
    first.report(REFRESHED);
    expect(kinds()).to.deep.equal(['refreshed']);
    subscription.unsubscribe();
  });

  it('ends with the failure of the partition, for example because its thread ends', () => {
    const { first, handover, kinds, subscription } = setUp();
    handover.refresh(REFRESH);
    first.fail();
    expect(kinds()).to.deep.equal(['event', 'failed']);
    subscription.unsubscribe();
  });

  it('cannot start while the partition has failed', () => {
    const { first, handover, subscription } = setUp();
    first.fail();
    expect(handover.refresh(REFRESH)).to.equal(false);
    expect(first.asked).to.deep.equal([]);
    subscription.unsubscribe();
  });

  it('has no report of the former hosting once a standby has taken over', () => {
    const { first, second, handover, move, kinds, subscription } = setUp();
    handover.refresh(REFRESH);
    move();
    second.report(reportOf(true));
    first.report(REFRESHED);
    expect(kinds()).to.deep.equal(['standby', 'switched', 'event']);
    subscription.unsubscribe();
  });

  it('cannot start if the partition of the hosting that takes over has failed', () => {
    const { first, second, handover, kinds, subscription } = setUp();
    follow(handover.change({ definition: definitionOf(), partition: second }));
    second.fail();
    first.report(reportOf(false));
    expect(kinds()).to.deep.equal(['event', 'state', 'switched', 'event']);
    expect(handover.refresh(REFRESH)).to.equal(false);
    subscription.unsubscribe();
  });
});
