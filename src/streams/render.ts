// Renders if a refresh may and the text has changed, and keeps the last text.
import { defer, finalize, map, mergeMap, of } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Forms, Snapshot } from '../model.js';
import type { Refreshed } from './refresh-view.js';
import type { Slices } from './slices.js';

/** What a render needs of a target's view. */
export type Renders = Pick<TargetView, 'rendering'>;

export interface Rendered {
  readonly hasRendered: boolean;
  /** Whether the text would differ if it were rendered now. */
  readonly isDirty: boolean;
  /** The last render; it stays until the next. */
  readonly snapshot: Snapshot | undefined;
}

type Ready = Refreshed & { readonly isReady: boolean };

/** @param slices in which a large render takes several turns; the target takes in nothing meanwhile */
export const render =
  <E extends Ready>(view: Renders, slices: Slices): OperatorFunction<E, E & Rendered> =>
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
        mergeMap((event): Observable<E & Rendered> => {
          const { input, isReady, isDirty } = event;
          const mayRender = input.kind === 'refresh' && input.mayRender && isReady;
          const forms = input.kind === 'refresh' ? input.forms : undefined;
          const hasRendered = mayRender && isDirty;
          // The same text in another form is not a new one.
          const isLacking = snapshot !== undefined && lacks(snapshot.forms, forms);
          const state = { hasRendered, isDirty: isDirty && !hasRendered };
          if (!hasRendered && !(mayRender && isLacking))
            return of({ ...event, ...state, snapshot });
          // Release the last text first, so that blocks reuse memory that is still in the cache.
          letGo();
          return slices
            .result$(() => view.rendering(forms))
            .pipe(
              map((next) => {
                release = next.hold();
                snapshot = next;
                return { ...event, ...state, snapshot };
              }),
            );
        }),
        finalize(letGo),
      );
    });

const lacks = (has: Forms, wanted: Forms | undefined): boolean =>
  wanted !== undefined && ((wanted.text && !has.text) || (wanted.deflated && !has.deflated));
