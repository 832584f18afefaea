// When a target's values are copied, and what is told of it afterwards.
import { expect } from 'chai';
import type { StructureChange } from '#app/model.js';
import type { TargetInput } from '#app/streams/inbox.js';
import { ViewRefresher } from '#app/streams/refresh-view.js';
import type { Refreshes, Structure } from '#app/streams/refresh-view.js';
import { lastOf } from '../support/last-of.js';
import { root, pollResult } from '../support/poll-results.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (given = {}, number = 0): TargetInput => ({
  kind: 'change',
  pollResult: pollResult(given),
  number,
});
const refresh = { kind: 'refresh', mayRender: true } as const;

/** Notes what is asked of it: `b`indMore, `a`bsorb, `r`efresh, refresh`f`resh, `o`bserve. Always dirty. */
class NotingView implements Refreshes {
  notes = '';
  /** Further steps of a refresh. */
  steps = 0;
  isSynced = true;
  hasMore = false;
  /** Whether `refreshFresh` binds what is left. */
  bindsWhenFresh = false;
  hasObserved = false;
  /** What each slice says of further ones; the last one has been bound after these. */
  readonly slices: boolean[] = [];
  bindMore(): boolean {
    this.notes += 'b';
    this.hasMore = this.slices.shift() ?? false;
    return this.hasMore;
  }
  absorb(changes: readonly StructureChange[]): void {
    this.notes += `a${changes.length}`;
    // It binds what is left where that is little.
    this.hasMore = false;
  }
  *refreshing(): Generator<void, boolean> {
    this.notes += 'r';
    for (let step = 0; step < this.steps; step++) yield;
    return true;
  }
  refreshFresh(): void {
    this.notes += 'f';
    this.hasMore &&= !this.bindsWhenFresh;
  }
  observe(): boolean {
    this.notes += 'o';
    return true;
  }
}

const inputs = {
  d: refresh,
  b: { kind: 'bind' }, // the last slice
  g: { kind: 'bind' },
  c: change(),
  n: change({ changes: [added] }),
  t: change({ tick: 1 }),
  u: change({ tick: 2 }),
  m: change({ hasMore: true }),
  D: { kind: 'refresh', mayRender: false },
} satisfies Record<string, TargetInput>;

describe('ViewRefresher', () => {
  /** What is asked of the view for each input, parted by blanks. */
  const table = [
    { sentence: 'a refresh copies the values', inputs: 'cdd', notes: 'a0r r r' },
    {
      sentence:
        'before the first sync, a refresh of a tree that grows copies only what is new in it',
      inputs: 'mdgdcbd',
      unsynced: true,
      notes: 'a0f f bf f a0r br r',
    },
    {
      sentence: 'after the first sync, a refresh of a tree that grows copies all values',
      inputs: 'cgd',
      notes: 'a0r bf r',
    },
    {
      sentence: 'a change copies nothing once the first sync is over',
      inputs: 'cctn',
      notes: 'a0r a0 a0 a1',
    },
    {
      sentence: 'a change copies as long as the first sync is not over',
      inputs: 'cct',
      unsynced: true,
      notes: 'a0r a0r a0r',
    },
    {
      sentence: 'the first sync is not over while changes wait to be taken in',
      inputs: 'mmcc',
      notes: 'a0f a0f a0r a0',
    },
    {
      sentence: 'the first sync is not over while the directory has news that were not taken in',
      inputs: 'ccn',
      hasChanges: true,
      notes: 'a0r a0r a1r',
    },
    {
      sentence: 'while the tree grows only what is new in it is copied',
      inputs: 'bcb',
      notes: 'bf a0r b',
    },
    {
      sentence: 'while objects are left to bind only what is new is copied',
      inputs: 'cgb',
      unsynced: true,
      notes: 'a0r bf br',
    },
    {
      sentence: 'observed variables are sampled at a wake-up, not at a refresh',
      inputs: 'cdtdtu',
      hasObserved: true,
      notes: 'a0r r a0ro r a0 a0ro',
    },
    {
      sentence: 'the first pollResult is no wake-up',
      inputs: 'tt',
      hasObserved: true,
      notes: 'a0r a0',
    },
    {
      sentence: 'a refresh that may not render copies the values of its own moment',
      inputs: 'cD',
      notes: 'a0r r',
    },
  ];
  for (const row of table)
    it(row.sentence, () => {
      const view = new NotingView();
      view.isSynced = row.unsynced !== true;
      view.hasObserved = row.hasObserved === true;
      view.slices.push(...Array.from(row.inputs.replace(/[^bg]/g, ''), (key) => key === 'g'));
      const notes: string[] = [];
      const structure = { pollResults: 0, hasChanges: () => row.hasChanges === true };
      const refresher = new ViewRefresher(view, structure);
      for (const key of row.inputs) {
        lastOf(refresher.take(inputs[key as keyof typeof inputs]));
        notes.push(view.notes.slice(notes.join('').length));
      }
      expect(notes.join(' ')).to.equal(row.notes);
    });

  const FRESH = { pollResults: 0, hasChanges: () => false };
  /** What each input shows. */
  const showing = (keys: string, view = new NotingView()) => {
    const refresher = new ViewRefresher(view, FRESH);
    return Array.from(keys, (key) => {
      const input = inputs[key as keyof typeof inputs];
      const { isDirty, isReady } = lastOf(refresher.take(input));
      return `${key}${isDirty ? ' dirty' : ''}${isReady ? ' ready' : ''}`;
    });
  };

  it('tells whether there is something new, and whether all was synced once', () => {
    expect(showing('bdmccdD').join(', ')).to.equal(
      'b, d, m, c dirty ready, c ready, d dirty ready, D dirty ready',
    );
  });

  it('late children never reopen the startup gate (spec 3)', () => {
    const view = new NotingView();
    const refresher = new ViewRefresher(view, FRESH);
    const ready: boolean[] = [];
    for (const isSynced of [false, true, false, true]) {
      view.isSynced = isSynced;
      ready.push(lastOf(refresher.take(inputs.c)).isReady);
    }
    expect(ready).to.deep.equal([false, true, true, true]);
  });

  it('is partial while the directory of a ready target has more, unless that is restless', () => {
    const refresher = new ViewRefresher(new NotingView(), FRESH);
    const partial: boolean[] = [];
    for (const input of [
      inputs.m,
      inputs.c,
      inputs.m,
      change({ hasMore: true, isUnstable: true }),
    ]) {
      lastOf(refresher.take(input));
      partial.push(refresher.isPartial);
    }
    expect(partial).to.deep.equal([false, false, true, false]);
  });

  /** For which of these changes, by number, the target is ready. */
  const readyAt = (
    numbers: readonly number[],
    structure: Structure,
    later: () => void = () => undefined,
  ): readonly boolean[] => {
    const refresher = new ViewRefresher(new NotingView(), structure);
    return numbers.map((number) => {
      const { isReady } = lastOf(refresher.take(change({}, number)));
      later();
      return isReady;
    });
  };

  it('waits for structure that was seen and is still on its way', () =>
    expect(readyAt([3, 4, 5], { pollResults: 5, hasChanges: () => false })).to.deep.equal([
      false,
      false,
      true,
    ]));

  it('waits for a later look, but not for a source that always has news', () => {
    const structure = { pollResults: 2, hasChanges: () => true };
    const later = () => structure.pollResults++;
    expect(readyAt([2, 2, 3, 3], structure, later)).to.deep.equal([false, false, true, true]);
  });

  it('copies the values in a refresh that bound the last of the tree: it may turn ready', () => {
    const view = new NotingView();
    view.isSynced = false;
    const refresher = new ViewRefresher(view, FRESH);
    view.slices.push(true);
    for (const key of ['c', 'g'] as const) lastOf(refresher.take(inputs[key]));
    [view.bindsWhenFresh, view.isSynced] = [true, true];
    expect(lastOf(refresher.take(inputs.d)).isDirty).to.equal(true);
    expect(view.notes).to.equal('a0rbffr');
  });

  it('yields between the steps of a copy', () => {
    const view = new NotingView();
    view.steps = 2;
    const refresher = new ViewRefresher(view, FRESH);
    lastOf(refresher.take(inputs.c));
    const steps = refresher.take(inputs.d);
    expect(Array.from({ length: 3 }, () => steps.next().done)).to.deep.equal([false, false, true]);
  });
});
