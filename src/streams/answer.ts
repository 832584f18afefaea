// Carries out decisions: renders, serves the last render, or answers that nothing is ready.
import { defer, map } from 'rxjs';
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

type Asked = Arrival & { readonly demand: Demand | undefined };

export function answer(view: TargetView): OperatorFunction<Decision<Asked>, Answer> {
  return (decision$) =>
    defer(() => {
      let last: Snapshot | undefined;
      return decision$.pipe(
        map(({ action, arrival }): Answer => {
          const demand = arrival?.demand;
          if (action === 'wait') return unanswered(demand);
          if (action === 'serve' && last !== undefined)
            return { demand, snapshot: last, isHit: true };
          // A deferred render shows the values of its own moment, not of the demand before it.
          if (arrival === undefined) view.refresh();
          last = view.render();
          return { demand, snapshot: last, isHit: false };
        }),
      );
    });
}
