// When a target's values are copied, and what is told of it afterwards.
import { expect } from 'chai';
import { Subject, from, map, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { StructureChange } from '#app/model.js';
import { mergedChanges, refreshView } from '#app/streams/refresh-view.js';
import type { Refreshes, Structure, TargetInput } from '#app/streams/refresh-view.js';
import { Slices } from '#app/streams/slices.js';
import { Budget } from '#app/budget.js';
import { marbles } from '../support/marbles.js';
import { root, sighting } from '../support/sightings.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (given = {}, number = 0): TargetInput => ({
  kind: 'change',
  sighting: sighting(given),
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

describe('refreshView', () => {
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
      hasNews: true,
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
      sentence: 'the first sighting is no wake-up',
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
      from(Array.from(row.inputs, (key) => inputs[key as keyof typeof inputs]))
        .pipe(
          refreshView(view, new Slices(), { sightings: 0, hasNews: () => row.hasNews === true }),
          map(() => notes.push(view.notes.slice(notes.join('').length))),
        )
        .subscribe();
      expect(notes.join(' ')).to.equal(row.notes);
    });

  const told = {
    s: { isDirty: true, isSynced: true },
    c: { isDirty: false, isSynced: true },
    q: { isDirty: false, isSynced: false },
  };
  const FRESH = { sightings: 0, hasNews: () => false };
  /** What is told, without the input. */
  const telling = (input$: Observable<TargetInput>, view = new NotingView()) =>
    input$.pipe(
      refreshView(view, new Slices(), FRESH),
      map(({ isDirty, isSynced }) => ({ isDirty, isSynced })),
    );

  it(
    'tells whether there is something new, and whether all is synced',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot('    -bdm-c-c-d-D-|', inputs);
      const refreshed = '     -qqq-s-c-s-s-|';
      const subscribed = '    ^------------!';

      expectObservable(telling(input$)).toBe(refreshed, told);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  /** For which of these changes, by number, all is said to be synced. */
  const syncedAt = (
    numbers: readonly number[],
    structure: Structure,
    later: () => void = () => undefined,
  ): readonly boolean[] => {
    const synced: boolean[] = [];
    from(numbers)
      .pipe(
        map((number) => change({}, number)),
        refreshView(new NotingView(), new Slices(), structure),
        tap(later),
        map(({ isSynced }) => synced.push(isSynced)),
      )
      .subscribe();
    return synced;
  };

  it('waits for structure that was seen and is still on its way', () =>
    expect(syncedAt([3, 4, 5], { sightings: 5, hasNews: () => false })).to.deep.equal([
      false,
      false,
      true,
    ]));

  it('waits for a later look, but not for a source that always has news', () => {
    const structure = { sightings: 2, hasNews: () => true };
    const later = () => structure.sightings++;
    expect(syncedAt([2, 2, 3, 3], structure, later)).to.deep.equal([false, false, true, true]);
  });

  it(
    'passes an error on',
    marbles(({ hot, expectObservable }) => {
      expectObservable(telling(hot('-c-#', inputs))).toBe('-s-#', told);
    }),
  );

  it(
    'ends with the error of a view that cannot be read',
    marbles(({ hot, expectObservable }) => {
      const view = new NotingView();
      view.refreshing = () => {
        throw new Error('unreadable');
      };
      const refreshed$ = hot('-c--', inputs).pipe(refreshView(view, new Slices(), FRESH));
      expectObservable(refreshed$).toBe('-#', told, new Error('unreadable'));
    }),
  );

  it('copies the values in a refresh that bound the last of the tree: it may turn ready', () => {
    const view = new NotingView();
    view.isSynced = false;
    const told: boolean[] = [];
    const input$ = new Subject<TargetInput>();
    const following = telling(input$, view).subscribe({
      next: ({ isDirty }) => told.push(isDirty),
      error: (error: unknown) => expect.fail(String(error)),
    });
    view.slices.push(true);
    for (const key of ['c', 'g'] as const) input$.next(inputs[key]);
    [view.bindsWhenFresh, view.isSynced] = [true, true];
    input$.next(inputs.d);
    following.unsubscribe();
    expect(view.notes).to.equal('a0rbffr');
    expect(told.at(-1)).to.equal(true);
  });

  it('takes in the next input only after a refresh of several turns is over', () => {
    const view = new NotingView();
    view.steps = 2;
    const slices = new Slices(() => new Budget({ steps: 0 }));
    const seen: string[] = [];
    from([change(), refresh, change({ changes: [added] })])
      .pipe(refreshView(view, slices, FRESH))
      .subscribe({
        next: ({ input }) => seen.push(input.kind),
        error: (error: unknown) => seen.push(String(error)),
      });
    const turns: string[] = [];
    while (slices.isOpen) {
      turns.push(`${view.notes} ${seen.join()}`);
      slices.goOn();
    }
    expect(turns).to.deep.equal([
      ...['a0 ', 'a0r ', 'a0r '],
      ...['a0rr change', 'a0rr change'],
      'a0rra1 change,refresh',
    ]);
    expect(seen).to.deep.equal(['change', 'refresh', 'change']);
  });

  it('asks nothing of the view once its consumer left', () => {
    const view = new NotingView();
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot('    -c-d-d-', inputs);
      const leaves = '        ^---!  ';

      expectObservable(telling(input$, view), leaves).toBe('-s-s', told);
      expectSubscriptions(input$.subscriptions).toBe(leaves);
    })();
    expect(view.notes).to.equal('a0rr');
  });
});

describe('mergedChanges', () => {
  it('is the later change with the structure of both', () => {
    const first = change({ changes: [added], tick: 1, hasMore: true });
    const removed: StructureChange = { kind: 'object-removed', object: added.object };
    const next = change({ changes: [removed], tick: 2 }, 3);
    expect(mergedChanges(first, next)).to.deep.equal({
      ...next,
      sighting: sighting({ changes: [added, removed], tick: 2 }),
    });
  });

  it('is none where one is no change', () => {
    for (const [first, next] of [
      [inputs.c, inputs.d],
      [inputs.d, inputs.c],
      [inputs.b, inputs.b],
    ] as const)
      expect(mergedChanges(first, next)).to.equal(undefined);
  });
});
