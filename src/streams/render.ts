// Renders if a refresh may and the text has changed, and keeps the last text.
import { defer, finalize, map, mergeMap, of } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Forms, Snapshot } from '../model.js';
import type { Gated } from './latch-ready.js';
import type { Slices } from './slices.js';

/** What a render needs of a target's view. */
export type Renders = Pick<TargetView, 'rendering'>;

/** A view after a refresh, and its text. */
export interface Rendered extends Gated {
  readonly hasRendered: boolean;
  /** Whether the text would differ if it were rendered now. */
  readonly isDirty: boolean;
  /** The last render; it stays until the next. */
  readonly snapshot: Snapshot | undefined;
}

/** @param slices in which a large render takes several turns; the target takes in nothing meanwhile */
export const render =
  (view: Renders, slices: Slices): OperatorFunction<Gated, Rendered> =>
  (event$) =>
    defer(() => {
      let snapshot: Snapshot | undefined;
      let release = (): void => undefined;
      const letGo = (): void => {
        release();
        release = () => undefined;
        snapshot = undefined;
      };
      return event$.pipe(
        mergeMap((event): Observable<Rendered> => {
          const { input, isReady, isSynced, tick } = event;
          const mayRender = input.kind === 'refresh' && input.mayRender && isReady;
          const forms = input.kind === 'refresh' ? input.forms : undefined;
          const hasRendered = mayRender && event.isDirty;
          // The same text in another form is not a new one.
          const isLacking = snapshot !== undefined && lacks(snapshot.forms, forms);
          const isDirty = event.isDirty && !hasRendered;
          // Property by property, as in native/segment/tree.ts: others look at it at each refresh.
          const rendered = (text: Snapshot | undefined): Rendered => {
            return { input, isReady, isSynced, tick, hasRendered, isDirty, snapshot: text };
          };
          if (!hasRendered && !(mayRender && isLacking)) return of(rendered(snapshot));
          // Release the last text first, so that blocks reuse memory that is still in the cache.
          letGo();
          return slices
            .result$(() => view.rendering(forms))
            .pipe(
              map((next) => {
                release = next.hold();
                snapshot = next;
                return rendered(next);
              }),
            );
        }),
        finalize(letGo),
      );
    });

const lacks = (has: Forms, wanted: Forms | undefined): boolean =>
  wanted !== undefined && ((wanted.text && !has.text) || (wanted.deflated && !has.deflated));
