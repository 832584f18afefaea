// Carries out decisions: renders, serves the last render, or answers that nothing is ready.
import { defer, finalize, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Snapshot } from '../model.js';
import type { Arrival, Decision } from './coalesce.js';

/** One request for a target's text; told apart by identity. */
export interface Demand {
  readonly kind: 'demand';
}

/** A snapshot for a demand, or for nobody yet; undefined for a demand that has to wait. */
export interface Answer {
  readonly demand: Demand | undefined;
  readonly snapshot: Snapshot | undefined;
  /** Whether the demand got the last render as it was. */
  readonly isHit: boolean;
}

/** The answer of a target that has nothing to serve. */
export const unanswered = (demand: Demand | undefined): Answer => ({
  demand,
  snapshot: undefined,
  isHit: false,
});

/** What an answer needs of a target's view. */
export type Renders = Pick<TargetView, 'refresh' | 'render'>;

type Asked = Arrival & { readonly demand: Demand | undefined };

export function answer(view: Renders): OperatorFunction<Decision<Asked>, Answer> {
  return (decision$) =>
    defer(() => {
      let last: Snapshot | undefined;
      let release = (): void => undefined;
      // Lines may go between two renders; what they leave behind is still to be served meanwhile.
      const render = (): Snapshot => {
        // Let go first: blocks then write into memory that was used a moment ago.
        release();
        last = undefined;
        const next = view.render();
        release = next.hold();
        return (last = next);
      };
      return decision$.pipe(
        map(({ action, arrival }): Answer => {
          const demand = arrival?.demand;
          if (action === 'wait') return unanswered(demand);
          if (action === 'serve' && last !== undefined)
            return { demand, snapshot: last, isHit: true };
          // A deferred render shows the values of its own moment, not of the demand before it.
          if (arrival === undefined) view.refresh();
          return { demand, snapshot: render(), isHit: false };
        }),
        finalize(() => {
          release();
        }),
      );
    });
}
