// Tests ViewRefresher: the copies and renders for each input, and how long it holds the text.
import { expect } from 'chai';
import type { LineForm, Refresh, Snapshot, StructureChange } from '#app/model.js';
import { ViewRefresher } from '#app/streams/view-refresher.js';
import type { RefreshableView, TargetInput } from '#app/streams/view-refresher.js';
import { runToEnd } from '#app/run-to-end.js';
import { root, pollResult } from '../support/poll-results.js';
import { snapshotOf } from '../support/snapshot-of.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (given = {}): TargetInput => ({ kind: 'poll', pollResult: pollResult(given) });
const nowMs = () => 0;
const refresh = { kind: 'refresh', mayRender: true, forms: [] } as const;

/**
 * Records the calls of its methods as letters: `a` and the number of changes for applyChanges, `b` for
 * bindMore, `r` for copyingValues, `o` for observe.
 */
class RecordingView implements RefreshableView {
  notes = '';
  /** How many steps a refresh takes in addition to the first. */
  steps = 0;
  isSynced = true;
  hasMore = false;
  hasObserved = false;
  readonly demanded = new Set<LineForm>();
  written = new Set<LineForm>();
  /** What each slice returns: whether more slices follow. */
  readonly slices: boolean[] = [];
  bindMore(): boolean {
    this.notes += 'b';
    this.hasMore = this.slices.shift() ?? false;
    return this.hasMore;
  }
  applyChanges(changes: readonly StructureChange[]): void {
    this.notes += `a${changes.length}`;
    // The view binds a small number of changes at once.
    this.hasMore = false;
  }
  *copyingValues(): Generator<void, boolean> {
    this.notes += 'r';
    for (let step = 0; step < this.steps; step++) yield;
    return true;
  }
  observe(): boolean {
    this.notes += 'o';
    return true;
  }
  demand({ forms }: Refresh): void {
    for (const form of forms) this.demanded.add(form);
  }
  get lacksForm(): boolean {
    return [...this.demanded].some((form) => !this.written.has(form));
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
  t: change({ notifications: 1 }),
  u: change({ notifications: 2 }),
  m: change({ hasMore: true }),
  D: { kind: 'refresh', mayRender: false, forms: [] },
} satisfies Record<string, TargetInput>;

describe('a view refresher', () => {
  /** `notes` has the calls of the view for each input, separated by blanks. */
  const table = [
    { title: 'copies the values at a refresh', inputs: 'cdd', notes: 'a0r r r' },
    {
      title: 'only binds at a refresh of an incomplete tree before the first sync',
      inputs: 'mdgdcbd',
      unsynced: true,
      notes: 'a0b b bb b a0r br r',
    },
    {
      title: 'copies all values at a refresh of an incomplete tree after the first sync',
      inputs: 'cgd',
      notes: 'a0r bb r',
    },
    {
      title: 'copies nothing at a change after the first sync',
      inputs: 'cctn',
      notes: 'a0r a0 a0 a1',
    },
    {
      title: 'copies values at a change before the first sync',
      inputs: 'cct',
      unsynced: true,
      notes: 'a0r a0r a0r',
    },
    {
      title: 'does not complete the first sync while the poll result has more changes',
      inputs: 'mmcc',
      notes: 'a0b a0b a0r a0',
    },
    {
      title: 'does not complete the first sync while the directory has unread changes',
      inputs: 'ccn',
      hasChanges: true,
      notes: 'a0r a0r a1r',
    },
    {
      title: 'only binds while the tree grows',
      inputs: 'bcb',
      notes: 'bb a0r b',
    },
    {
      title: 'only binds while objects remain to be bound',
      inputs: 'cgb',
      unsynced: true,
      notes: 'a0r bb br',
    },
    {
      title: 'samples observed variables at a wake-up, not at a refresh',
      inputs: 'cdtdtu',
      hasObserved: true,
      notes: 'a0r r a0ro r a0 a0ro',
    },
    {
      title: 'does not count the first poll result as a wake-up',
      inputs: 'tt',
      hasObserved: true,
      notes: 'a0r a0',
    },
    {
      title: 'copies the current values even at a refresh that permits no render',
      inputs: 'cD',
      notes: 'a0r r',
    },
  ];
  for (const row of table)
    it(row.title, () => {
      const view = new RecordingView();
      view.isSynced = row.unsynced !== true;
      view.hasObserved = row.hasObserved === true;
      view.slices.push(
        ...Array.from(row.inputs.replace(/[^bg]/g, ''), (key) =>
          key === 'g' ? [true, true] : [false],
        ).flat(),
      );
      const notes: string[] = [];
      const refresher = new ViewRefresher(
        view,
        { hasChanges: () => row.hasChanges === true },
        nowMs,
      );
      for (const key of row.inputs) {
        runToEnd(refresher.process(inputs[key as keyof typeof inputs]));
        notes.push(view.notes.slice(notes.join('').length));
      }
      expect(notes.join(' ')).to.equal(row.notes);
    });

  const FRESH = { hasChanges: () => false };
  /** Returns the result of each input. */
  const showing = (keys: string, view = new RecordingView()) => {
    const refresher = new ViewRefresher(view, FRESH, nowMs);
    return Array.from(keys, (key) => {
      const input = inputs[key as keyof typeof inputs];
      const { isDirty, hasRendered, isReady } = runToEnd(refresher.process(input));
      const text = isDirty ? ' dirty' : hasRendered ? ' rendered' : '';
      return `${key}${text}${isReady ? ' ready' : ''}`;
    });
  };

  it('reports whether the text is outdated, and whether the first sync is over', () => {
    expect(showing('bdmccdD').join(', ')).to.equal(
      'b, d, m, c dirty ready, c ready, d rendered ready, D dirty ready',
    );
  });

  it('stays ready while children that are added later are not synced (spec 3)', () => {
    const view = new RecordingView();
    const refresher = new ViewRefresher(view, FRESH, nowMs);
    const ready: boolean[] = [];
    for (const isSynced of [false, true, false, true]) {
      view.isSynced = isSynced;
      ready.push(runToEnd(refresher.process(inputs.c)).isReady);
    }
    expect(ready).to.deep.equal([false, true, true, true]);
  });

  /** Adds poll results, and runs one task for all. Returns whether the target is ready then. */
  const isReadyAfter = (refresher: ViewRefresher, ...given: readonly object[]): boolean => {
    for (const each of given) refresher.add(change(each));
    runToEnd(refresher.task(() => undefined));
    return refresher.isReady;
  };

  it('is not ready while changes are queued', () => {
    const view = new RecordingView();
    const refresher = new ViewRefresher(view, FRESH, nowMs);
    view.steps = 1;
    refresher.add(change({ changes: [added] }));
    const task = refresher.task(() => undefined);
    for (let step = 0; step < 2; step++) task.next();
    refresher.add(change({ changes: [added] }));
    runToEnd(task);
    expect(refresher.isReady).to.equal(false);
    expect(isReadyAfter(refresher)).to.equal(true);
  });

  it('becomes ready after one further poll, even if the source always has more changes', () => {
    const refresher = new ViewRefresher(new RecordingView(), { hasChanges: () => true }, nowMs);
    const changed = { changes: [added] };
    expect(isReadyAfter(refresher, changed)).to.equal(false);
    expect(isReadyAfter(refresher, changed)).to.equal(true);
  });

  it('is not ready after a further poll that left changes unread', () => {
    const refresher = new ViewRefresher(new RecordingView(), { hasChanges: () => true }, nowMs);
    const isReady = [{}, { hasMore: true }, { changes: [added] }].map((each) =>
      isReadyAfter(refresher, each),
    );
    expect(isReady).to.deep.equal([false, false, true]);
  });

  it('refuses an input while it processes another one', () => {
    const refresher = new ViewRefresher(new RecordingView(), FRESH, nowMs);
    refresher.process(inputs.c).next();
    expect(() => refresher.process(inputs.b).next()).to.throw('overlap');
  });

  it('renders in the refresh that binds the last object', () => {
    const view = new RecordingView();
    view.isSynced = false;
    const refresher = new ViewRefresher(view, FRESH, nowMs);
    view.slices.push(true, true);
    for (const key of ['c', 'g'] as const) runToEnd(refresher.process(inputs[key]));
    view.isSynced = true;
    expect(runToEnd(refresher.process(inputs.d)).hasRendered).to.equal(true);
    expect(view.notes).to.equal('a0rbbbr');
  });

  it('yields between the steps of a copy', () => {
    const view = new RecordingView();
    view.steps = 2;
    const refresher = new ViewRefresher(view, FRESH, nowMs);
    runToEnd(refresher.process(inputs.c));
    const steps = refresher.process(inputs.d);
    expect(Array.from({ length: 3 }, () => steps.next().done)).to.deep.equal([false, false, true]);
  });
});

const BOTH = ['text', 'deflated'] as const;

interface NumberedSnapshot extends Snapshot {
  readonly number: number;
}

/** Renders snapshots with the numbers 0, 1, 2 … and counts how often each is held. */
class NumberingView extends RecordingView {
  readonly held: number[] = [];
  isDirty = true;
  /** @param renderSteps the number of steps of a render */
  constructor(readonly renderSteps = 1) {
    super();
  }
  // eslint-disable-next-line require-yield -- it is done at once
  override *copyingValues(): Generator<void, boolean> {
    return this.isDirty;
  }
  override *rendering(): Generator<void, NumberedSnapshot> {
    this.written = new Set(this.demanded);
    for (let step = 1; step < this.renderSteps; step++) yield;
    const number = this.held.push(0) - 1;
    const count = (by: number) => (this.held[number] = (this.held[number] ?? 0) + by);
    const hold = () => {
      count(1);
      return () => void count(-1);
    };
    return { ...snapshotOf([], { hold }), number };
  }
}

describe('a view refresher that may render', () => {
  const may = { kind: 'refresh', mayRender: true, forms: [] } as const;
  /** An input in lower case arrives while the values are unchanged. */
  const taken = {
    R: { ...may, forms: ['text'] },
    r: { ...may, forms: ['text'] },
    P: { ...may, forms: BOTH },
    p: { ...may, forms: BOTH },
    q: { ...may, mayRender: false, forms: BOTH },
    S: { kind: 'refresh', mayRender: false, forms: [] },
    b: { kind: 'bind' },
  } satisfies Record<string, TargetInput>;

  /** Starts a refresher on a view that is synced unless `unsynced` is true. */
  const started = (view: NumberingView, unsynced = false) => {
    view.isSynced = !unsynced;
    const refresher = new ViewRefresher(view, { hasChanges: () => false }, nowMs);
    runToEnd(refresher.process(change()));
    const process = (key: string) => {
      view.isDirty = key === key.toUpperCase();
      return refresher.process(taken[key as keyof typeof taken]);
    };
    return { refresher, process };
  };

  /** The title, the inputs, and for each refresh the number of the snapshot with `new` or `dirty`. */
  const table = [
    ['renders a changed text if the refresh permits a render', 'RR', '0 new, 1 new'],
    ['returns the last text if nothing has changed', 'RrRr', '0 new, 0, 1 new, 1'],
    ['returns the last text as outdated if the refresh permits no render', 'RS', '0 new, 0 dirty'],
    ['has no text before the first render', 'SR', '- dirty, 0 new'],
    ['renders nothing for a target that is not ready', 'RR', '- dirty, - dirty', true],
    ['renders a missing form of unchanged lines', 'RppP', '0 new, 1 new, 1, 2 new'],
    ['delays a missing form until a refresh permits a render', 'Rqp', '0 new, 0, 1 new'],
    ['renders nothing for an input that is not a refresh', 'bRb', '-, 0 new, 0'],
  ] as const satisfies readonly (readonly [string, string, string, boolean?])[];
  for (const [title, keys, wanted, unsynced] of table)
    it(title, () => {
      const { process } = started(new NumberingView(), unsynced);
      const seen = Array.from(keys, (key) => {
        const { snapshot, hasRendered, isDirty } = runToEnd(process(key));
        const number = snapshot && (snapshot as NumberedSnapshot).number;
        const words = [number ?? '-', hasRendered ? 'new' : '', isDirty ? 'dirty' : ''];
        return words.filter((word) => word !== '').join(' ');
      });
      expect(seen.join(', ')).to.equal(wanted);
    });

  it('holds the last text until the next render', () => {
    const view = new NumberingView();
    const { refresher, process } = started(view);
    const held = (['R', 'S', 'R'] as const).map((key) => {
      runToEnd(process(key));
      return [...view.held];
    });
    expect(held).to.deep.equal([[1], [1], [0, 1]]);
    refresher.release();
    expect(view.held).to.deep.equal([0, 0]);
  });

  it('releases the last text before the next render, so that the render can reuse its memory', () => {
    const view = new NumberingView();
    const held: number[] = [];
    const render = view.rendering.bind(view);
    view.rendering = () => {
      held.push(view.held.reduce((sum, each) => sum + each, 0));
      return render();
    };
    const { process } = started(view);
    for (let round = 0; round < 3; round++) runToEnd(process('R'));
    expect(held).to.deep.equal([0, 0, 0]);
  });

  it('yields between the steps of a render', () => {
    const steps = started(new NumberingView(3)).process('R');
    expect(Array.from({ length: 3 }, () => steps.next().done)).to.deep.equal([false, false, true]);
  });
});
