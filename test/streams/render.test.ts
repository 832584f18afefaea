// When a refresh renders, and how long its text is held.
import { expect } from 'chai';
import { catchError, map, of } from 'rxjs';
import { Budget } from '#app/budget.js';
import type { Forms, Snapshot } from '#app/model.js';
import { render } from '#app/streams/render.js';
import type { Renders } from '#app/streams/render.js';
import { Slices } from '#app/streams/slices.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { snapshotOf } from '../support/snapshot-of.js';

const BOTH = { text: true, deflated: true };

/** Renders snapshots 0, 1, 2 … that count how often they are held. */
class NumberingView implements Renders {
  readonly held: number[] = [];
  /** Which forms each of them was to have. */
  readonly forms: Forms[] = [];
  /** @param steps in which a render is done */
  constructor(readonly steps = 1) {}
  *rendering(forms: Forms = { text: true, deflated: false }): Generator<void, Snapshot> {
    for (let step = 1; step < this.steps; step++) yield;
    this.forms.push(forms);
    const number = this.held.push(0) - 1;
    const count = (by: number) => (this.held[number] = (this.held[number] ?? 0) + by);
    const hold = () => {
      count(1);
      return () => void count(-1);
    };
    return snapshotOf([], { bytes: number, forms, hold });
  }
}

describe('render', () => {
  const state = { isReady: true, isDirty: true, isSynced: true, tick: 3 };
  const may = { kind: 'refresh', mayRender: true } as const;
  const events = {
    R: { input: may, ...state },
    P: { input: { ...may, forms: BOTH }, ...state },
    p: { input: { ...may, forms: BOTH }, ...state, isDirty: false },
    q: { input: { ...may, mayRender: false, forms: BOTH }, ...state, isDirty: false },
    r: { input: may, ...state, isDirty: false },
    S: { input: { kind: 'refresh', mayRender: false }, ...state },
    w: { input: may, ...state, isReady: false },
    b: { input: { kind: 'bind' }, ...state },
  } as const;

  /** What is emitted, in short: the snapshot's number, whether it is new, whether it is outdated. */
  const rendered = {
    '0': '0 new',
    '1': '1 new',
    h: '0',
    j: '1',
    '2': '2 new',
    H: '0 dirty',
    i: '1',
    n: '- dirty',
  };
  const pictures = [
    ['a refresh that may render a changed text renders it', '-R-R-|', '-0-1-|'],
    ['an unchanged text is the last one', '-R-r-R-r-|', '-0-h-1-i-|'],
    ['a refresh that may not render reports the last text, and that it is old', '-R-S-|', '-0-H-|'],
    ['before the first render there is no text', '-S-R-|', '-n-0-|'],
    ['a target that is not ready renders nothing', '-w-R-|', '-n-0-|'],
    ['a form that the last text lacks is made, and is no new text', '-R-p-p-P-|', '-0-j-j-2-|'],
    ['a form that the last text lacks waits until a refresh may render', '-R-q-p-|', '-0-h-j-|'],
    ['what is no refresh renders nothing', '-b-R-b-|', '-n-0-H-|'],
    ['passes an error on', '-R-#', '-0-#'],
  ] as const;
  for (const [sentence, taken, wanted] of pictures)
    it(
      sentence,
      marbles(({ hot, expectObservable, expectSubscriptions }) => {
        const event$ = hot(taken, events);
        const rendered$ = event$.pipe(
          render(new NumberingView(), new Slices()),
          map(({ snapshot, hasRendered, isDirty }) =>
            [snapshot?.bytes ?? '-', hasRendered ? 'new' : '', isDirty ? 'dirty' : '']
              .filter((word) => word !== '')
              .join(' '),
          ),
        );
        expectObservable(rendered$).toBe(wanted, rendered);
        expectSubscriptions(event$.subscriptions).toBe(`^${'-'.repeat(taken.length - 2)}!`);
      }),
    );

  it('holds the last render until the next, so that its bytes stay while it may be served', () => {
    const view = new NumberingView();
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const event$ = hot(' -R-S-R-R', events);
      const leaves = '     ^-----! ';

      expectObservable(
        event$.pipe(
          render(view, new Slices()),
          map(() => [...view.held]),
        ),
        leaves,
      ).toBe('-a-a-b', { a: [1], b: [0, 1] });
      expectSubscriptions(event$.subscriptions).toBe(leaves);
    })();
    expect(view.held).to.deep.equal([0, 0]);
  });

  it('lets go of the last render before the next, so that its memory is used again', () => {
    const view = new NumberingView();
    const { R } = events;
    const held: number[] = [];
    const renderAnew = view.rendering.bind(view);
    view.rendering = () => {
      held.push(view.held.reduce((sum, each) => sum + each, 0));
      return renderAnew();
    };
    of(R, R, R).pipe(render(view, new Slices())).subscribe();
    expect(held).to.deep.equal([0, 0, 0]);
  });

  it('emits a text that takes several slices with the last, and does nothing for who left', () => {
    const view = new NumberingView(3);
    const slices = new Slices(() => new Budget({ steps: 0 }));
    const { seen, subscription } = follow(of(events.R).pipe(render(view, slices)));
    const turns = [[slices.isOpen, seen.length]];
    for (let turn = 0; turn < 2; turn++) {
      slices.goOn();
      turns.push([slices.isOpen, seen.length]);
    }
    expect(turns).to.deep.equal([
      [true, 0],
      [true, 0],
      [false, 1],
    ]);
    subscription.unsubscribe();
    const { subscription: leaving } = follow(of(events.R).pipe(render(view, slices)));
    leaving.unsubscribe();
    expect(slices.isOpen).to.equal(false);
    expect(view.held).to.deep.equal([0]);
  });

  it('passes on an error of a later slice', () => {
    const view = new NumberingView();
    view.rendering = function* () {
      yield;
      throw new Error('no memory');
    };
    const slices = new Slices(() => new Budget({ steps: 0 }));
    const rendered$ = of(events.R).pipe(
      render(view, slices),
      catchError((error: unknown) => of(error)),
    );
    const { seen } = follow(rendered$);
    slices.goOn();
    expect(String(seen)).to.contain('no memory');
    expect(slices.isOpen).to.equal(false);
  });
});
