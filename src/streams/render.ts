// Renders if a refresh may and the text has changed, and keeps the last text.
import { defer, finalize, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { TargetView } from '../exposition/target-view.js';
import type { Forms, Snapshot } from '../model.js';
import type { Refreshed } from './refresh-view.js';

/** What a render needs of a target's view. */
export type Renders = Pick<TargetView, 'render'>;

export interface Rendered {
  readonly hasRendered: boolean;
  /** Whether the text would differ if it were rendered now. */
  readonly isDirty: boolean;
  /** The last render; it stays until the next. */
  readonly snapshot: Snapshot | undefined;
}

type Ready = Refreshed & { readonly isReady: boolean };

export const render =
  <E extends Ready>(view: Renders): OperatorFunction<E, E & Rendered> =>
  (event$) =>
    defer(() => {
      let snapshot: Snapshot | undefined;
      let release = (): void => undefined;
      const renderAnew = (forms?: Forms): void => {
        // Release the last text first, so that blocks reuse memory that is still in the cache.
        release();
        snapshot = undefined;
        const next = view.render(forms);
        release = next.hold();
        snapshot = next;
      };
      return event$.pipe(
        map((event) => {
          const { input, isReady, isDirty } = event;
          const mayRender = input.kind === 'refresh' && input.mayRender && isReady;
          const forms = input.kind === 'refresh' ? input.forms : undefined;
          const hasRendered = mayRender && isDirty;
          // The same text in another form is not a new one.
          const isLacking = snapshot !== undefined && lacks(snapshot.forms, forms);
          if (hasRendered || (mayRender && isLacking)) renderAnew(forms);
          return { ...event, hasRendered, isDirty: isDirty && !hasRendered, snapshot };
        }),
        finalize(() => {
          release();
        }),
      );
    });

const lacks = (has: Forms, wanted: Forms | undefined): boolean =>
  wanted !== undefined && ((wanted.text && !has.text) || (wanted.deflated && !has.deflated));
