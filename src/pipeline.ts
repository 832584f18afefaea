// One target from shared memory to answers, in one pipe: the file that a newcomer reads first.
import {
  EMPTY,
  asyncScheduler,
  catchError,
  concat,
  defer,
  finalize,
  map,
  merge,
  mergeMap,
  of,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { TargetView } from './exposition/target-view.js';
import { NOTHING_HANDED_OVER, answer, unanswered } from './streams/answer.js';
import type { Answer, HandedOver } from './streams/answer.js';
import { bindSubtree } from './streams/bind-subtree.js';
import { chooseRoot } from './streams/choose-root.js';
import type { ChosenRoot, RootChoice, RootWish } from './streams/choose-root.js';
import { coalesce, whenDue } from './streams/coalesce.js';
import { latchReady } from './streams/latch-ready.js';
import { looped } from './streams/looped.js';
import type { Order } from './streams/order.js';
import { inTurn } from './streams/refresh-queue.js';
import type { RefreshQueue } from './streams/refresh-queue.js';
import { mergedChanges, refreshView } from './streams/refresh-view.js';
import type { Change, TargetInput } from './streams/refresh-view.js';
import type { Sighting } from './streams/watch.js';
import type { ServerPool } from './streams/server-pool.js';

export interface PipelineParts extends RootWish {
  readonly serverKeys: readonly string[];
  readonly pool: ServerPool;
  /** Of the partition: one refresh at a time. */
  readonly queue: RefreshQueue;
  /** `render_min_interval_ms`. */
  readonly spacingMs: number;
  readonly order$: Observable<Order>;
  /** Whether a predecessor answers and observes until an `adopt` arrives. */
  readonly isHeir: boolean;
  readonly makeView: (chosen: ChosenRoot) => TargetView;
  readonly observer: PipelineObserver;
  readonly scheduler?: SchedulerLike | undefined;
  /** Milliseconds of a clock that does not step. */
  readonly nowMs: () => number;
}

/** Hears what happens on the way; it changes nothing. */
export interface PipelineObserver {
  chosen(choice: RootChoice): void;
  /** `view` is undefined when its root is gone. */
  viewed(view: TargetView | undefined): void;
  ready(isReady: boolean): void;
  /** What the server key of the chosen root shows, at each change. */
  seen(sighting: Sighting): void;
  /** Something went wrong that should not: the target starts anew after a while. */
  failed(error: unknown): void;
  /** A refresh took that many milliseconds, answers included. */
  readonly refreshed: (tookMs: number) => void;
}

type Told = Answer | HandedOver;

/** Answers every demand, for as long as it is subscribed to. */
export const targetPipeline = (given: PipelineParts): Observable<Told> =>
  defer(() => {
    // Whose root is found or lost after it took over is nobody's heir any more.
    let { isHeir } = given;
    const order$ = given.order$.pipe(
      tap(({ kind }) => {
        if (kind === 'adopt') isHeir = false;
      }),
    );
    const parts = { ...given, order$ };
    const sightings = parts.serverKeys.map((key) => defer(() => parts.pool.segment$(key)));
    return chooseRoot(sightings, parts).pipe(
      tap((choice) => {
        parts.observer.chosen(choice);
      }),
      switchMap((choice) =>
        choice.kind === 'none' ? withoutRoot(parts) : withRoot(choice, { ...parts, isHeir }),
      ),
      catchError((error: unknown, again$) => {
        parts.observer.failed(error);
        return concat(whileDown(parts), again$);
      }),
    );
  });

const withoutRoot = ({ order$ }: PipelineParts): Observable<Told> =>
  order$.pipe(
    mergeMap((order) => {
      if (order.kind === 'adopt') return EMPTY;
      return of(order.kind === 'leave' ? NOTHING_HANDED_OVER : unanswered(order.id));
    }),
  );

/** A target that failed is started anew after this time; its demands hear why meanwhile. */
export const RESTART_MS = 5000;
const whileDown = (parts: PipelineParts): Observable<Told> =>
  withoutRoot(parts).pipe(takeUntil(timer(RESTART_MS, parts.scheduler)));

function withRoot(chosen: ChosenRoot, parts: PipelineParts): Observable<Told> {
  const { pool, queue, spacingMs, observer, isHeir, nowMs, scheduler = asyncScheduler } = parts;
  return defer(() => {
    const view = parts.makeView(chosen);
    observer.viewed(view);
    const structure = { sightings: 0, hasNews: () => chosen.source.hasNews() };
    const bound$ = bindSubtree(() => view.bindMore(), scheduler);
    const change$ = pool.segment$(chosen.serverKey).pipe(
      tap((sighting) => {
        observer.seen(sighting);
      }),
      map((sighting): Change => {
        if (sighting.changes.length > 0 || sighting.hasMore) structure.sightings++;
        return { kind: 'change', sighting, number: structure.sightings };
      }),
    );
    const decide = (input$: Observable<TargetInput>) =>
      input$.pipe(
        inTurn(queue, observer.refreshed, mergedChanges), // one refresh at a time in each partition
        refreshView(view, { rendersAtChanges: spacingMs === 0, isHeir, structure }), // structure in, values copied
        latchReady(), //                      the startup gate, which opens once
        tap(({ isReady }) => {
          observer.ready(isReady);
        }),
        coalesce(spacingMs, nowMs), //        render now, later, or serve the last render
      );
    const input$: Observable<TargetInput> = merge(bound$, change$, parts.order$);
    return input$.pipe(
      looped(decide, (decision$): Observable<TargetInput> => {
        // It shows what is there at its own moment: objects as well as values.
        const look = () => {
          pool.look(chosen.serverKey);
        };
        return whenDue(decision$, scheduler).pipe(tap(look));
      }),
      answer(view), //                        a snapshot for whoever asked
      finalize(() => {
        observer.viewed(undefined);
        view.close();
      }),
    );
  });
}
