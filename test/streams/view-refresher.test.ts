// When an input copies values, when it renders them, and how long the text is held.
import { expect } from 'chai';
import type { Forms, Snapshot, StructureChange } from '#app/model.js';
import type { TargetInput } from '#app/streams/target-inputs.js';
import { ViewRefresher } from '#app/streams/view-refresher.js';
import type { RefreshableView } from '#app/streams/view-refresher.js';
import { lastOf } from '../support/last-of.js';
import { root, pollResult } from '../support/poll-results.js';
import { snapshotOf } from '../support/snapshot-of.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (given = {}, number = 0): TargetInput => ({
  kind: 'change',
  pollResult: pollResult(given),
  number,
});
const refresh = { kind: 'refresh', mayRender: true } as const;

/** Notes what is asked of it: `b`indMore, `a`bsorb, `r`efresh, refresh`f`resh, `o`bserve. Always dirty. */
class NotingView implements RefreshableView {
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
  // eslint-disable-next-line require-yield -- it is done at once
  *rendering(): Generator<void, Snapshot> {
    return snapshotOf([]);
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
      const refresher = new ViewRefresher(view, { hasChanges: () => row.hasChanges === true });
      for (const key of row.inputs) {
        lastOf(refresher.process(inputs[key as keyof typeof inputs]));
        notes.push(view.notes.slice(notes.join('').length));
      }
      expect(notes.join(' ')).to.equal(row.notes);
    });

  const FRESH = { hasChanges: () => false };
  /** What each input shows. */
  const showing = (keys: string, view = new NotingView()) => {
    const refresher = new ViewRefresher(view, FRESH);
    return Array.from(keys, (key) => {
      const input = inputs[key as keyof typeof inputs];
      const { isDirty, hasRendered, isReady } = lastOf(refresher.process(input));
      const text = isDirty ? ' dirty' : hasRendered ? ' rendered' : '';
      return `${key}${text}${isReady ? ' ready' : ''}`;
    });
  };

  it('tells whether there is something new, and whether all was synced once', () => {
    expect(showing('bdmccdD').join(', ')).to.equal(
      'b, d, m, c dirty ready, c ready, d rendered ready, D dirty ready',
    );
  });

  it('late children never reopen the startup gate (spec 3)', () => {
    const view = new NotingView();
    const refresher = new ViewRefresher(view, FRESH);
    const ready: boolean[] = [];
    for (const isSynced of [false, true, false, true]) {
      view.isSynced = isSynced;
      ready.push(lastOf(refresher.process(inputs.c)).isReady);
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
      lastOf(refresher.process(input));
      partial.push(refresher.isPartial);
    }
    expect(partial).to.deep.equal([false, false, true, false]);
  });

  it('waits for structure that has arrived and is not processed yet', () => {
    const refresher = new ViewRefresher(new NotingView(), FRESH);
    const arrived = [1, 2, 3].map(() => refresher.change(pollResult({ changes: [added] })));
    const ready = arrived.map((each) => lastOf(refresher.process(each)).isReady);
    expect(ready).to.deep.equal([false, false, true]);
  });

  it('waits for a later poll, but not for a source that always has more', () => {
    const refresher = new ViewRefresher(new NotingView(), { hasChanges: () => true });
    const arrive = () => refresher.change(pollResult({ changes: [added] }));
    const isReady = (input: TargetInput) => lastOf(refresher.process(input)).isReady;
    const first = arrive();
    expect(isReady(first)).to.equal(false);
    const second = arrive();
    expect(isReady(first)).to.equal(false);
    expect(isReady(second)).to.equal(true);
  });

  it('copies the values in a refresh that bound the last of the tree: it may turn ready', () => {
    const view = new NotingView();
    view.isSynced = false;
    const refresher = new ViewRefresher(view, FRESH);
    view.slices.push(true);
    for (const key of ['c', 'g'] as const) lastOf(refresher.process(inputs[key]));
    [view.bindsWhenFresh, view.isSynced] = [true, true];
    expect(lastOf(refresher.process(inputs.d)).hasRendered).to.equal(true);
    expect(view.notes).to.equal('a0rbffr');
  });

  it('yields between the steps of a copy', () => {
    const view = new NotingView();
    view.steps = 2;
    const refresher = new ViewRefresher(view, FRESH);
    lastOf(refresher.process(inputs.c));
    const steps = refresher.process(inputs.d);
    expect(Array.from({ length: 3 }, () => steps.next().done)).to.deep.equal([false, false, true]);
  });
});

const BOTH = { text: true, deflated: true };

/** Renders snapshots 0, 1, 2 … that count how often they are held. */
class NumberingView extends NotingView {
  readonly held: number[] = [];
  isDirty = true;
  /** @param renderSteps in which a render is done */
  constructor(readonly renderSteps = 1) {
    super();
  }
  // eslint-disable-next-line require-yield -- it is done at once
  override *refreshing(): Generator<void, boolean> {
    return this.isDirty;
  }
  override *rendering(forms: Forms = { text: true, deflated: false }): Generator<void, Snapshot> {
    for (let step = 1; step < this.renderSteps; step++) yield;
    const number = this.held.push(0) - 1;
    const count = (by: number) => (this.held[number] = (this.held[number] ?? 0) + by);
    const hold = () => {
      count(1);
      return () => void count(-1);
    };
    return snapshotOf([], { bytes: number, forms, hold });
  }
}

describe('ViewRefresher at a render', () => {
  const may = { kind: 'refresh', mayRender: true } as const;
  /** In lower case, and by `b`, the values are the same as before. */
  const taken = {
    R: may,
    r: may,
    P: { ...may, forms: BOTH },
    p: { ...may, forms: BOTH },
    q: { ...may, mayRender: false, forms: BOTH },
    S: { kind: 'refresh', mayRender: false },
    b: { kind: 'bind' },
  } satisfies Record<string, TargetInput>;

  /** A view that is synced, unless it is `unsynced`. */
  const started = (view: NumberingView, unsynced = false) => {
    view.isSynced = !unsynced;
    const refresher = new ViewRefresher(view, { hasChanges: () => false });
    lastOf(refresher.process(change()));
    const process = (key: string) => {
      view.isDirty = key === key.toUpperCase();
      return refresher.process(taken[key as keyof typeof taken]);
    };
    return { refresher, process };
  };

  /** What each refresh shows: the snapshot's number, whether it is new, whether it is outdated. */
  const table = [
    ['a refresh that may render a changed text renders it', 'RR', '0 new, 1 new'],
    ['an unchanged text is the last one', 'RrRr', '0 new, 0, 1 new, 1'],
    [
      'a refresh that may not render reports the last text, and that it is old',
      'RS',
      '0 new, 0 dirty',
    ],
    ['before the first render there is no text', 'SR', '- dirty, 0 new'],
    ['a target that is not ready renders nothing', 'RR', '- dirty, - dirty', true],
    ['a form that the last text lacks is made, and is no new text', 'RppP', '0 new, 1, 1, 2 new'],
    ['a form that the last text lacks waits until a refresh may render', 'Rqp', '0 new, 0, 1'],
    ['what is no refresh renders nothing', 'bRb', '-, 0 new, 0'],
  ] as const satisfies readonly (readonly [string, string, string, boolean?])[];
  for (const [sentence, keys, wanted, unsynced] of table)
    it(sentence, () => {
      const { process } = started(new NumberingView(), unsynced);
      const seen = Array.from(keys, (key) => {
        const { snapshot, hasRendered, isDirty } = lastOf(process(key));
        const words = [snapshot?.bytes ?? '-', hasRendered ? 'new' : '', isDirty ? 'dirty' : ''];
        return words.filter((word) => word !== '').join(' ');
      });
      expect(seen.join(', ')).to.equal(wanted);
    });

  it('holds the last render until the next, so that its bytes stay while it may be served', () => {
    const view = new NumberingView();
    const { refresher, process } = started(view);
    const held = (['R', 'S', 'R'] as const).map((key) => {
      lastOf(process(key));
      return [...view.held];
    });
    expect(held).to.deep.equal([[1], [1], [0, 1]]);
    refresher.release();
    expect(view.held).to.deep.equal([0, 0]);
  });

  it('releases the last text before the next, so that its memory is used again', () => {
    const view = new NumberingView();
    const held: number[] = [];
    const render = view.rendering.bind(view);
    view.rendering = () => {
      held.push(view.held.reduce((sum, each) => sum + each, 0));
      return render();
    };
    const { process } = started(view);
    for (let round = 0; round < 3; round++) lastOf(process('R'));
    expect(held).to.deep.equal([0, 0, 0]);
  });

  it('yields between the steps of a render', () => {
    const steps = started(new NumberingView(3)).process('R');
    expect(Array.from({ length: 3 }, () => steps.next().done)).to.deep.equal([false, false, true]);
  });
});
