// How decisions are carried out: which snapshot each demand gets.
import { expect } from 'chai';
import { map, of } from 'rxjs';
import type { Snapshot } from '#app/model.js';
import { answer } from '#app/streams/answer.js';
import type { Demand, Renders } from '#app/streams/answer.js';
import { marbles } from '../support/marbles.js';

/** Renders snapshots 0, 1, 2 … that count how often they are held. */
class NumberingView implements Renders {
  readonly held: number[] = [];
  refreshes = 0;
  refresh(): boolean {
    this.refreshes++;
    return true;
  }
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
  const demand: Demand = { kind: 'demand' };
  const asked = { kind: 'demand', isReady: true, isDirty: true, demand } as const;
  const changed = { kind: 'change', isReady: true, isDirty: true, demand: undefined } as const;
  const decisions = {
    R: { action: 'render', arrival: asked },
    C: { action: 'render', arrival: changed },
    r: { action: 'render', arrival: undefined },
    S: { action: 'serve', arrival: asked },
    w: { action: 'wait', arrival: asked },
  } as const;

  /** Answers in short: who is answered, with the number of the snapshot, and whether from cache. */
  const short = (text: string) => {
    const [who = '', number = '', hit = ''] = text;
    return {
      demand: who === 'd' ? demand : undefined,
      snapshot: number,
      isHit: hit === 'h',
    };
  };
  const answers = {
    '0': short('d0'),
    '1': short('d1'),
    '2': short('d2'),
    h: short('d0h'),
    i: short('d1h'),
    c: short('-1'),
    w: short('d'),
  };
  const answered = (view: Renders) => {
    const carriedOut = answer(view);
    return (decision$: Parameters<typeof carriedOut>[0]) =>
      carriedOut(decision$).pipe(
        map(({ snapshot, ...rest }) => ({ ...rest, snapshot: String(snapshot?.bytes ?? '') })),
      );
  };

  const pictures = [
    ['a demand that renders gets the new text', '-R-R-R-|', '-0-1-2-|'],
    ['a demand that is served gets the last text, and that is a hit', '-R-S-R-S|', '-0-h-1-i|'],
    ['a demand that is served after a deferred render gets that one', '-R-r-S-|', '-0-c-i-|'],
    ['with 0 a change renders for the demand after it', '-R-C-S-|', '-0-c-i-|'],
    ['a demand that has to wait gets nothing', '-w-R-|', '-w-0-|'],
    ['the first demand of an unchanged target renders', '-S-S-|', '-0-h-|'],
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

  it('copies the values of its own moment for a deferred render only', () => {
    const view = new NumberingView();
    const { R, S, C, r } = decisions;
    of(R, S, C, r).pipe(answer(view)).subscribe();
    expect(view.refreshes).to.equal(1);
  });

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
});
