// The moments at which a live view is drawn: at keys, at other sizes of the terminal, and in between.
import {
  concat,
  concatMap,
  map,
  merge,
  of,
  repeat,
  startWith,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { keysIn } from './keys.js';
import type { Key } from './keys.js';

/** A key that moves, or nothing. */
export type Moment = Exclude<Key, 'end'> | 'again';

export interface MomentsOptions {
  /** From the end of a drawing to the next, unless something happens. */
  readonly periodMs: number;
  readonly typed$: Observable<string>;
  readonly resized$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

/** Begins at once, and completes at a key that ends the program; the end of what is typed does not. */
export function moments({
  periodMs,
  typed$,
  resized$,
  scheduler,
}: MomentsOptions): Observable<Moment> {
  const keys$ = typed$.pipe(concatMap(keysIn));
  const pauses$ = timer(periodMs, scheduler).pipe(repeat());
  return merge(keys$, resized$.pipe(map(() => 'again' as const))).pipe(
    startWith('again' as const),
    switchMap((moment) => concat(of(moment), pauses$.pipe(map(() => 'again' as const)))),
    takeWhile((moment): moment is Moment => moment !== 'end'),
  );
}
