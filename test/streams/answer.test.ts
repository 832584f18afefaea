// How decisions are carried out: which snapshot each demand gets, and what is handed over.
import { expect } from 'chai';
import { map, of } from 'rxjs';
import type { Snapshot } from '#app/model.js';
import { answer } from '#app/streams/answer.js';
import type { Renders } from '#app/streams/answer.js';
import { DUE } from '#app/streams/coalesce.js';
import { marbles } from '../support/marbles.js';

/** Renders snapshots 0, 1, 2 … that count how often they are held. */
class NumberingView implements Renders {
  readonly held: number[] = [];
  readonly generation = 'g';
  readonly observations = [];
  render(): Snapshot {
    const number = this.held.push(0) - 1;
    const count = (by: number) => (this.held[number] = (this.held[number] ?? 0) + by);
    const hold = () => {
      count(1);
      return () => void count(-1);
    };
    return { families: [], bytes: number, series: 0, hold };
  }
}

describe('answer', () => {
  const state = { isReady: true, isDirty: true, tick: 3 };
  const asked = { kind: 'demand', input: { kind: 'demand', id: 5 }, ...state } as const;
  const changed = { kind: 'change', input: { kind: 'bound', hasMore: false }, ...state } as const;
  const due = { kind: 'due', input: DUE, ...state } as const;
  const leaves = { kind: 'change', input: { kind: 'leave' }, ...state } as const;
  const since = { sinceRenderMs: 9, owesRender: true };
  const decisions = {
    R: { action: 'render', arrival: asked, ...since },
    C: { action: 'render', arrival: changed, ...since },
    r: { action: 'render', arrival: due, ...since },
    S: { action: 'serve', arrival: asked, ...since },
    w: { action: 'wait', arrival: asked, ...since },
    n: { action: 'rest', arrival: changed, ...since },
    l: { action: 'rest', arrival: leaves, ...since },
  } as const;

  /** Answers in short: the demand's number, the snapshot's, and the outcome. */
  const answers = {
    '0': '5 0 miss',
    '1': '5 1 miss',
    '2': '5 2 miss',
    h: '5 0 hit',
    i: '5 1 hit',
    k: '5 - hit',
    c: '- 1 miss',
    w: '5 - waiting',
    H: 'handed over - of g at 3 after 9 ms, owing one',
    I: 'handed over 0 of g at 3 after 9 ms, owing one',
  };
  const answered = (view: Renders) => {
    const carriedOut = answer(view);
    return (decision$: Parameters<typeof carriedOut>[0]) =>
      carriedOut(decision$).pipe(
        map((told) => {
          const snapshot = told.snapshot?.bytes ?? '-';
          if (told.kind === 'answer') return `${told.id ?? '-'} ${snapshot} ${told.outcome}`;
          const { generation, sinceRenderMs: ms, owesRender, tick } = told.handover;
          const owing = owesRender ? ', owing one' : '';
          return `handed over ${snapshot} of ${generation} at ${tick} after ${ms} ms${owing}`;
        }),
      );
  };

  const pictures = [
    ['a demand that renders gets the new text', '-R-R-R-|', '-0-1-2-|'],
    ['a demand that is served gets the last text, and that is a hit', '-R-S-R-S|', '-0-h-1-i|'],
    ['a demand that is served after a deferred render gets that one', '-R-r-S-|', '-0-c-i-|'],
    ['with 0 a change renders for the demand after it', '-R-C-S-|', '-0-c-i-|'],
    ['a demand that has to wait gets nothing', '-w-R-|', '-w-0-|'],
    ['a change that asks for nothing gets nothing', '-n-R-n-|', '---0---|'],
    ['a hit before the first render is one on the text of a predecessor', '-S-R-|', '-k-0-|'],
    ['who leaves hands over its last text', '-R-l-|', '-0-I-|'],
    ['who leaves without a text hands over what it has', '-l-|', '-H-|'],
    ['passes an error on', '-R-#', '-0-#'],
  ] as const;
  for (const [sentence, decided, wanted] of pictures)
    it(
      sentence,
      marbles(({ hot, expectObservable }) => {
        const decision$ = hot(decided, decisions);
        expectObservable(decision$.pipe(answered(new NumberingView()))).toBe(wanted, answers);
      }),
    );

  it('holds the last render until the next, so that its bytes stay while it may be served', () => {
    const view = new NumberingView();
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const decision$ = hot(' -R-S-R-R', decisions);
      const leaves = '        ^-----! ';

      expectObservable(
        decision$.pipe(
          answer(view),
          map(() => [...view.held]),
        ),
        leaves,
      ).toBe('-a-a-b', { a: [1], b: [0, 1] });
      expectSubscriptions(decision$.subscriptions).toBe(leaves);
    })();
    expect(view.held).to.deep.equal([0, 0]);
  });

  it('lets go of the last render before the next, so that its memory is used again', () => {
    const view = new NumberingView();
    const { R } = decisions;
    const held: number[] = [];
    const render = view.render.bind(view);
    view.render = () => {
      held.push(view.held.reduce((sum, each) => sum + each, 0));
      return render();
    };
    of(R, R, R).pipe(answer(view)).subscribe();
    expect(held).to.deep.equal([0, 0, 0]);
  });
});
