// One target from shared memory to answers, in one pipe: the file that a newcomer reads first.
import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  finalize,
  map,
  merge,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { TargetView } from './exposition/target-view.js';
import type { Verdict } from './model.js';
import { answer, unanswered } from './streams/answer.js';
import type { Answer, Demand } from './streams/answer.js';
import { bindSubtree } from './streams/bind-subtree.js';
import { chooseRoot } from './streams/choose-root.js';
import type { ChosenRoot, RootChoice, RootWish } from './streams/choose-root.js';
import { coalesce } from './streams/coalesce.js';
import { latchReady } from './streams/latch-ready.js';
import { inPartition } from './streams/partition.js';
import type { Partition } from './streams/partition.js';
import { refreshView } from './streams/refresh-view.js';
import type { ServerPool } from './streams/server-pool.js';

export interface PipelineParts extends RootWish {
  readonly serverKeys: readonly string[];
  readonly pool: ServerPool;
  readonly partition: Partition;
  /** `render_min_interval_ms`. */
  readonly spacingMs: number;
  readonly demand$: Observable<Demand>;
  readonly makeView: (chosen: ChosenRoot) => TargetView;
  readonly observer: PipelineObserver;
  readonly scheduler?: SchedulerLike;
  /** Milliseconds of a clock that does not step; by default the scheduler's. */
  readonly nowMs?: () => number;
}

/** Hears what happens on the way; it changes nothing. */
export interface PipelineObserver {
  chosen(choice: RootChoice): void;
  /** `view` is undefined when its root is gone. */
  viewed(view: TargetView | undefined): void;
  ready(isReady: boolean): void;
  /** The state of the chosen root's publisher, at each change of its segment. */
  seen(publisher: Verdict): void;
  /** Something went wrong that should not: the target starts anew after a while. */
  failed(error: unknown): void;
  /** A refresh took that many milliseconds, answers included. */
  readonly refreshed: (tookMs: number) => void;
}

/** Answers every demand, for as long as it is subscribed to. */
export const targetPipeline = (parts: PipelineParts): Observable<Answer> =>
  chooseRoot(
    parts.serverKeys.map((key) => defer(() => parts.pool.segment$(key))),
    parts,
  ).pipe(
    tap((choice) => {
      parts.observer.chosen(choice);
    }),
    switchMap((choice) =>
      choice.kind === 'none' ? parts.demand$.pipe(map(unanswered)) : withRoot(choice, parts),
    ),
    catchError((error: unknown, again$) => {
      parts.observer.failed(error);
      return concat(whileDown(parts), again$);
    }),
  );

/** A target that failed is started anew after this time; its demands hear why meanwhile. */
export const RESTART_MS = 5000;
const whileDown = ({ demand$, scheduler = asyncScheduler }: PipelineParts): Observable<Answer> =>
  demand$.pipe(map(unanswered), takeUntil(timer(RESTART_MS, scheduler)));

function withRoot(chosen: ChosenRoot, parts: PipelineParts): Observable<Answer> {
  const { pool, partition, spacingMs, observer, scheduler = asyncScheduler } = parts;
  return defer(() => {
    const view = parts.makeView(chosen);
    observer.viewed(view);
    const bound$ = bindSubtree(() => view.bindMore(), scheduler);
    const change$ = pool.segment$(chosen.serverKey).pipe(
      tap(({ publisher }) => {
        observer.seen(publisher);
      }),
      map((sighting) => ({ kind: 'change', sighting }) as const),
    );
    return merge(bound$, change$, parts.demand$).pipe(
      inPartition(partition, observer.refreshed), // one refresh at a time in each partition
      refreshView(view, spacingMs === 0), //         structure in, values copied, where needed
      latchReady(), //                               the startup gate, which opens once
      tap(({ isReady }) => {
        observer.ready(isReady);
      }),
      coalesce(spacingMs, scheduler, parts.nowMs), // render now, later, or serve the last render
      answer(view), //                               a snapshot for whoever asked
      finalize(() => {
        observer.viewed(undefined);
        view.close();
      }),
    );
  });
}
