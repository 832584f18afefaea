// When a refresh renders, and how long its text is held.
import { expect } from 'chai';
import { map, of } from 'rxjs';
import type { Forms, Snapshot } from '#app/model.js';
import { render } from '#app/streams/render.js';
import type { Renders } from '#app/streams/render.js';
import { marbles } from '../support/marbles.js';

const BOTH = { text: true, deflated: true };

/** Renders snapshots 0, 1, 2 … that count how often they are held. */
class NumberingView implements Renders {
  readonly held: number[] = [];
  /** Which forms each of them was to have. */
  readonly forms: Forms[] = [];
  render(forms: Forms = { text: true, deflated: false }): Snapshot {
    this.forms.push(forms);
    const number = this.held.push(0) - 1;
    const count = (by: number) => (this.held[number] = (this.held[number] ?? 0) + by);
    const hold = () => {
      count(1);
      return () => void count(-1);
    };
    return { families: [], bytes: number, series: 0, forms, hold };
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
    b: { input: { kind: 'bound', hasMore: false }, ...state },
    l: { input: { kind: 'leave' }, ...state },
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
    ['what is no refresh renders nothing', '-b-R-b-l-|', '-n-0-H-H-|'],
    ['passes an error on', '-R-#', '-0-#'],
  ] as const;
  for (const [sentence, taken, wanted] of pictures)
    it(
      sentence,
      marbles(({ hot, expectObservable, expectSubscriptions }) => {
        const event$ = hot(taken, events);
        const rendered$ = event$.pipe(
          render(new NumberingView()),
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
          render(view),
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
    const renderAnew = view.render.bind(view);
    view.render = () => {
      held.push(view.held.reduce((sum, each) => sum + each, 0));
      return renderAnew();
    };
    of(R, R, R).pipe(render(view)).subscribe();
    expect(held).to.deep.equal([0, 0, 0]);
  });
});
