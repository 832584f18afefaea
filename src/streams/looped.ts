// Feeds what comes out of a stage back into it.
import {
  ReplaySubject,
  Subject,
  connect,
  defer,
  finalize,
  ignoreElements,
  merge,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';

/**
 * Runs `stage` over its input and over what `back` makes of its output. It completes with the input,
 * when the stage has nothing left to say; what `back` still owes then is forgotten.
 */
export const looped =
  <A, B>(
    stage: OperatorFunction<A, B>,
    back: (output$: Observable<B>) => Observable<A>,
  ): OperatorFunction<A, B> =>
  (input$) =>
    defer(() => {
      const again$ = new Subject<A>();
      const ended$ = new ReplaySubject<void>(1);
      const end = () => {
        ended$.next();
      };
      const feed = (output$: Observable<B>): Observable<never> =>
        back(output$).pipe(
          tap((event) => {
            again$.next(event);
          }),
          ignoreElements(),
          takeUntil(ended$),
        );
      return merge(input$.pipe(finalize(end)), again$.pipe(takeUntil(ended$))).pipe(
        stage,
        connect((output$) => merge(output$, feed(output$))),
      );
    });
