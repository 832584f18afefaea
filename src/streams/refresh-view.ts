// Takes changes and demands into a target's view: absorbs structure, copies values when needed.
import { defer, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Demand } from './answer.js';
import type { Bound } from './bind-subtree.js';
import type { Arrival } from './coalesce.js';
import type { Seen } from './seen.js';

/** What reaches a bound target. */
export type TargetInput = Demand | { readonly kind: 'change'; readonly sighting: Seen } | Bound;

/** A target's view after it took in an input. */
export interface Refreshed extends Omit<Arrival, 'isReady'> {
  readonly demand: Demand | undefined;
  readonly isSynced: boolean;
}

/** What a refresh needs of a target's view. */
export type Refreshes = Pick<
  TargetView,
  'absorb' | 'refresh' | 'refreshFresh' | 'observe' | 'hasObserved' | 'isSynced'
>;

/**
 * A demand always copies the values. A change copies them only where somebody waits for them: the
 * first sync, observed variables at a wake-up of the publisher, or renders at each change.
 */
export function refreshView(
  view: Refreshes,
  rendersAtChanges: boolean,
): OperatorFunction<TargetInput, Refreshed> {
  return (input$) =>
    defer(() => {
      let tick: number | undefined;
      let hasMore = true;
      let wasSynced = false;
      return input$.pipe(
        map((input): Refreshed => {
          let hasMoved = false;
          if (input.kind === 'change') {
            const { sighting } = input;
            view.absorb(sighting.changes);
            hasMoved = tick !== undefined && tick !== sighting.tick;
            tick = sighting.tick;
            hasMore = sighting.hasMore;
          }
          // While a tree is still growing, only what is new in it is copied.
          const isGrowing = hasMore || (input.kind === 'bound' && input.hasMore);
          const observes = hasMoved && view.hasObserved;
          const copies =
            input.kind === 'demand' || (!wasSynced && !isGrowing) || observes || rendersAtChanges;
          if (!copies && isGrowing) view.refreshFresh();
          const isDirty = copies && view.refresh();
          if (observes) view.observe();
          wasSynced ||= view.isSynced && !hasMore;
          return {
            kind: input.kind === 'demand' ? 'demand' : 'change',
            demand: input.kind === 'demand' ? input : undefined,
            isDirty,
            isSynced: view.isSynced && !hasMore,
          };
        }),
      );
    });
}
