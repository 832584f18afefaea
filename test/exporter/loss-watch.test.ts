// What the log says of objects and series that are missing.
import { expect } from 'chai';
import type { InternalMetric, TargetEvent } from '#app/model.js';
import { INTERNAL_FACTS } from '#app/targets/internal-metrics.js';
import { LOSSES, lossWatch } from '#app/exporter/observers.js';
import { FakeTarget } from '../support/fake-target.js';
import { follow } from '../support/follow.js';
import { VirtualClock } from '../support/virtual-clock.js';

describe('lossWatch', () => {
  const PERIOD_MS = 5000;
  const watching = (...targets: readonly FakeTarget[]) => {
    const clock = new VirtualClock();
    const { seen, subscription } = follow(lossWatch({ targets }, clock));
    /** What is reported when the next look finds these metrics on the first target. */
    const look = (metrics?: InternalMetric[]): readonly TargetEvent[] => {
      const before = seen.length;
      if (metrics !== undefined && targets[0] !== undefined) targets[0].metrics = metrics;
      clock.advance(PERIOD_MS);
      return seen.slice(before);
    };
    return { look, subscription };
  };
  const dropped = (value: number): InternalMetric => ({
    name: 'shm_exporter_target_dropped_objects',
    type: 'gauge',
    help: '',
    value,
  });
  const clashes = (value: number): InternalMetric => ({
    name: 'shm_exporter_target_series_clashes_total',
    type: 'counter',
    help: '',
    value,
  });

  it('looks at metrics that every target has', () =>
    expect(INTERNAL_FACTS.map(({ name }) => name)).to.include.members([...LOSSES.keys()]));

  it('reports once that objects are dropped, and once that they are not any more', () => {
    const { look } = watching(new FakeTarget());
    const about = { app: 'ads', serverKeys: ['82'] };
    const begins = 'shows less than it should: its publisher had no room for 3 objects';
    const ends = 'shows all objects again: its publisher has room for them';
    expect(look([dropped(0)])).to.deep.equal([]);
    expect(look([dropped(3)])).to.deep.equal([
      { level: 'warning', message: `target ads on 82 ${begins}`, about },
    ]);
    expect(look([dropped(5)])).to.deep.equal([]);
    expect(look([]), 'while its root is lost').to.deep.equal([]);
    expect(look([dropped(5)])).to.deep.equal([]);
    expect(look([dropped(0)])).to.deep.equal([
      { level: 'info', message: `target ads on 82 ${ends}`, about },
    ]);
    expect(look([dropped(0)])).to.deep.equal([]);
  });

  it('reports that series are left out while their count rises, and when it rises no more', () => {
    const { look } = watching(new FakeTarget('adh', ['80', '81']));
    const about = { app: 'adh', serverKeys: ['80', '81'] };
    const why = 'so far, since others have their name and labels';
    expect(look([clashes(2)])).to.deep.equal([
      { level: 'warning', message: `target adh on 80, 81 leaves out series: 2 ${why}`, about },
    ]);
    expect(look([clashes(4)])).to.deep.equal([]);
    expect(look([clashes(4)])).to.deep.equal([
      {
        level: 'info',
        message: `target adh on 80, 81 leaves out no further series: 4 ${why}`,
        about,
      },
    ]);
    expect(look([clashes(4)])).to.deep.equal([]);
    expect(look([clashes(5)]).map(({ level }) => level)).to.deep.equal(['warning']);
  });

  it('keeps targets and losses apart', () => {
    const [one, other] = [new FakeTarget('ads', ['1']), new FakeTarget('ads', ['2'])];
    other.metrics = [dropped(1)];
    const { look } = watching(one, other);
    expect(look([clashes(1)]).map(({ message }) => message.slice(0, 28))).to.deep.equal([
      'target ads on 1 leaves out s',
      'target ads on 2 shows less t',
    ]);
    expect(look([clashes(1), dropped(1)]).map(({ message }) => message.slice(0, 28))).to.deep.equal(
      ['target ads on 1 leaves out n', 'target ads on 1 shows less t'],
    );
  });

  it('asks nobody between two looks, and nobody once it is left', () => {
    const target = new FakeTarget();
    let asked = 0;
    target.internal = () => {
      asked++;
      return [];
    };
    const { look, subscription } = watching(target);
    look();
    look();
    subscription.unsubscribe();
    look();
    expect(asked).to.equal(2);
  });
});
