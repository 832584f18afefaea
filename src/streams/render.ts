// Renders if a refresh may and the text has changed, and keeps the last text.
import { Observable, defer, finalize, map, mergeMap, of } from 'rxjs';
import type { OperatorFunction, Subscriber } from 'rxjs';
import { Budget } from '../budget.js';
import type { TargetView } from '../exposition/target-view.js';
import type { Forms, Snapshot } from '../model.js';
import type { Refreshed } from './refresh-view.js';
import type { Rest } from './refresh-queue.js';

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

/** The renders of a target: a large one takes several turns, in which the target takes in nothing. */
export class Rendering implements Rest {
  readonly #view: Renders;
  readonly #slice: () => Budget;
  #slices: Generator<void, Snapshot> | undefined;
  #subscriber: Subscriber<Snapshot> | undefined;

  /** @param slice what one turn may take; without limit by default */
  constructor(view: Renders, slice = () => new Budget()) {
    this.#view = view;
    this.#slice = slice;
  }

  get isOpen(): boolean {
    return this.#slices !== undefined;
  }

  /** Begins a render, and ends it unless that takes more than one turn. */
  snapshot$(forms: Forms | undefined): Observable<Snapshot> {
    return new Observable((subscriber) => {
      this.#slices = this.#view.rendering(forms);
      this.#subscriber = subscriber;
      this.goOn();
      return () => {
        this.#slices = this.#subscriber = undefined;
      };
    });
  }

  /** Renders the next slice. */
  goOn(): void {
    const budget = this.#slice();
    try {
      while (this.#slices !== undefined) {
        const { done, value } = this.#slices.next();
        if (done === true) this.#emit(value);
        else if (budget.isSpent) return;
      }
    } catch (error) {
      this.#slices = undefined;
      this.#subscriber?.error(error);
    }
  }

  #emit(snapshot: Snapshot): void {
    this.#slices = undefined;
    this.#subscriber?.next(snapshot);
    this.#subscriber?.complete();
  }
}

export const render =
  <E extends Ready>(rendering: Rendering): OperatorFunction<E, E & Rendered> =>
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
          return rendering.snapshot$(forms).pipe(
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
