// When a refresh renders, and how long its text is held.
import { expect } from 'chai';
import type { Forms, Snapshot } from '#app/model.js';
import { ViewRenderer } from '#app/streams/refresh-view.js';
import type { RenderableView } from '#app/streams/refresh-view.js';
import { lastOf } from '../support/last-of.js';
import { snapshotOf } from '../support/snapshot-of.js';

const BOTH = { text: true, deflated: true };

/** Renders snapshots 0, 1, 2 … that count how often they are held. */
class NumberingView implements RenderableView {
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

describe('ViewRenderer', () => {
  const state = { isReady: true, isDirty: true, tick: 3 };
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
    ['a target that is not ready renders nothing', 'wR', '- dirty, 0 new'],
    ['a form that the last text lacks is made, and is no new text', 'RppP', '0 new, 1, 1, 2 new'],
    ['a form that the last text lacks waits until a refresh may render', 'Rqp', '0 new, 0, 1'],
    ['what is no refresh renders nothing', 'bRb', '- dirty, 0 new, 0 dirty'],
  ] as const;
  for (const [sentence, taken, wanted] of table)
    it(sentence, () => {
      const renderer = new ViewRenderer(new NumberingView());
      const seen = Array.from(taken, (key) => {
        const { snapshot, hasRendered, isDirty } = lastOf(
          renderer.render(events[key as keyof typeof events]),
        );
        const words = [snapshot?.bytes ?? '-', hasRendered ? 'new' : '', isDirty ? 'dirty' : ''];
        return words.filter((word) => word !== '').join(' ');
      });
      expect(seen.join(', ')).to.equal(wanted);
    });

  it('holds the last render until the next, so that its bytes stay while it may be served', () => {
    const view = new NumberingView();
    const renderer = new ViewRenderer(view);
    const held = (['R', 'S', 'R'] as const).map((key) => {
      lastOf(renderer.render(events[key]));
      return [...view.held];
    });
    expect(held).to.deep.equal([[1], [1], [0, 1]]);
    renderer.release();
    expect(view.held).to.deep.equal([0, 0]);
  });

  it('lets go of the last render before the next, so that its memory is used again', () => {
    const view = new NumberingView();
    const held: number[] = [];
    const renderAnew = view.rendering.bind(view);
    view.rendering = () => {
      held.push(view.held.reduce((sum, each) => sum + each, 0));
      return renderAnew();
    };
    const renderer = new ViewRenderer(view);
    for (let round = 0; round < 3; round++) lastOf(renderer.render(events.R));
    expect(held).to.deep.equal([0, 0, 0]);
  });

  it('yields between the steps of a render', () => {
    const steps = new ViewRenderer(new NumberingView(3)).render(events.R);
    expect(Array.from({ length: 3 }, () => steps.next().done)).to.deep.equal([false, false, true]);
  });
});
