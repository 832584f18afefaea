// When a target's values are copied, and what is told of it afterwards.
import { expect } from 'chai';
import { from, map } from 'rxjs';
import type { StructureChange } from '#app/model.js';
import { refreshView } from '#app/streams/refresh-view.js';
import type { Refreshes, TargetInput } from '#app/streams/refresh-view.js';
import { marbles } from '../support/marbles.js';
import { root, sighting } from '../support/sightings.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (given = {}): TargetInput => ({ kind: 'change', sighting: sighting(given) });
const demand = { kind: 'demand' } as const;

/** Notes what is asked of it: `a`bsorb, `r`efresh, refresh`f`resh, `o`bserve. Always dirty. */
class NotingView implements Refreshes {
  notes = '';
  isSynced = true;
  hasObserved = false;
  absorb(changes: readonly StructureChange[]): void {
    this.notes += `a${changes.length}`;
  }
  refresh(): boolean {
    this.notes += 'r';
    return true;
  }
  refreshFresh(): void {
    this.notes += 'f';
  }
  observe(): void {
    this.notes += 'o';
  }
}

const inputs = {
  d: demand,
  b: { kind: 'bound', hasMore: false },
  c: change(),
  n: change({ changes: [added] }),
  t: change({ tick: 1 }),
  u: change({ tick: 2 }),
  m: change({ hasMore: true }),
} satisfies Record<string, TargetInput>;

describe('refreshView', () => {
  /** What is asked of the view for each input, parted by blanks. */
  const table = [
    { sentence: 'a demand always copies the values', inputs: 'cdd', notes: 'a0r r r' },
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
      sentence: 'while the tree grows only what is new in it is copied',
      inputs: 'bcb',
      notes: 'f a0r ',
    },
    {
      sentence: 'with 0 every change copies, since every change renders',
      inputs: 'cct',
      rendersAtChanges: true,
      notes: 'a0r a0r a0r',
    },
    {
      sentence: 'observed variables are sampled at a wake-up, not at a demand',
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
  ];
  for (const row of table)
    it(row.sentence, () => {
      const view = new NotingView();
      view.isSynced = row.unsynced !== true;
      view.hasObserved = row.hasObserved === true;
      const notes: string[] = [];
      from(Array.from(row.inputs, (key) => inputs[key as keyof typeof inputs]))
        .pipe(
          refreshView(view, row.rendersAtChanges === true),
          map(() => notes.push(view.notes.slice(notes.join('').length))),
        )
        .subscribe();
      expect(notes.join(' ')).to.equal(row.notes);
    });

  const told = {
    d: { kind: 'demand', demand, isDirty: true, isSynced: true },
    u: { kind: 'demand', demand, isDirty: true, isSynced: false },
    s: { kind: 'change', demand: undefined, isDirty: true, isSynced: true },
    c: { kind: 'change', demand: undefined, isDirty: false, isSynced: true },
    q: { kind: 'change', demand: undefined, isDirty: false, isSynced: false },
  };

  it(
    'tells which demand it was, whether there is something new, and whether all is synced',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot('    -bdm-c-c-d-|', inputs);
      const refreshed = '     -quq-s-c-d-|';
      const subscribed = '    ^----------!';

      expectObservable(input$.pipe(refreshView(new NotingView(), false))).toBe(refreshed, told);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'passes an error on',
    marbles(({ hot, expectObservable }) => {
      const refreshed$ = hot('-c-#', inputs).pipe(refreshView(new NotingView(), false));
      expectObservable(refreshed$).toBe('-s-#', told);
    }),
  );

  it(
    'ends with the error of a view that cannot be read',
    marbles(({ hot, expectObservable }) => {
      const view = new NotingView();
      view.refresh = () => {
        throw new Error('unreadable');
      };
      const refreshed$ = hot('-c--', inputs).pipe(refreshView(view, false));
      expectObservable(refreshed$).toBe('-#', told, new Error('unreadable'));
    }),
  );

  it('asks nothing of the view once its consumer left', () => {
    const view = new NotingView();
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const input$ = hot('    -c-d-d-', inputs);
      const leaves = '        ^---!  ';

      expectObservable(input$.pipe(refreshView(view, false)), leaves).toBe('-s-d', told);
      expectSubscriptions(input$.subscriptions).toBe(leaves);
    })();
    expect(view.notes).to.equal('a0rr');
  });
});
