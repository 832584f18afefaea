// One target from shared memory to its answers: the file that a newcomer reads first.
import {
  catchError,
  concat,
  defer,
  filter,
  finalize,
  map,
  merge,
  mergeMap,
  startWith,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import type { BehaviorSubject, Observable, SchedulerLike } from 'rxjs';
import { messageOf } from './errors.js';
import type { TargetView } from './exposition/target-view.js';
import type { TargetEvent } from './model.js';
import { chooseRoot } from './streams/choose-root.js';
import type { ChosenRoot, DesiredRoot, RootChoice } from './streams/choose-root.js';
import { coalesce } from './streams/coalesce.js';
import type { Demand } from './streams/coalesce.js';
import { inTurn, unbound$ } from './streams/inbox.js';
import type { Change, TargetInput } from './streams/inbox.js';
import type { RefreshQueue } from './streams/refresh-queue.js';
import type { Refresh, Report } from './streams/report.js';
import type { Scheduler } from './streams/scheduler.js';
import type { ServerPool } from './streams/server-pool.js';
import { ViewRefresher } from './streams/view-refresher.js';
import type { Refreshed } from './streams/view-refresher.js';

/** The refresh that is not carried out yet; undefined where there is none. */
export type OpenRefresh = BehaviorSubject<Refresh | undefined>;

export interface HostingParts extends DesiredRoot {
  readonly serverKeys: readonly string[];
  readonly pool: ServerPool;
  /** Of the thread. */
  readonly tasks: Scheduler;
  /** Of the partition. */
  readonly queue: RefreshQueue;
  /** It outlives roots: what is open when a root is lost is carried out without one. */
  readonly open$: OpenRefresh;
  /** Whether changes matter without a demand: they are rendered then, or logged. */
  readonly isEager: boolean;
  /** Has the pool look at the server keys for a refresh that is to be carried out now. */
  readonly look: () => void;
  readonly makeView: (chosen: ChosenRoot) => TargetView;
  /** A refresh took that many milliseconds. */
  readonly refreshed: (tookMs: number) => void;
  readonly scheduler?: SchedulerLike | undefined;
}

/** What happened to a target in its partition. */
export type Step =
  | { readonly kind: 'root'; readonly choice: RootChoice; readonly view: TargetView | undefined }
  /** A refresh found no root to carry it out on. */
  | { readonly kind: 'rootless' }
  | Refreshed;

/** From shared memory to rendered text. It runs in a partition, for as long as it is subscribed to. */
export const hostingPipeline = (parts: HostingParts): Observable<Step> => {
  let hasRoot = false;
  const pollResults = parts.serverKeys.map((key) => parts.pool.pollResult$(key, () => !hasRoot));
  return chooseRoot(pollResults, parts).pipe(
    switchMap((choice) => {
      hasRoot = choice.kind !== 'none';
      return choice.kind === 'none' ? withoutRoot(choice, parts) : withRoot(choice, parts);
    }),
    catchError((error: unknown, again$) => concat(whileDown(error, parts), again$)),
  );
};

export interface ServingParts {
  readonly demand$: Observable<Demand>;
  readonly report$: Observable<Report>;
  /** `render_min_interval_ms`. */
  readonly spacingMs: () => number;
  /** Milliseconds of a clock that does not step. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
  /** Answers the demands that waited for this report; returns events for the log. */
  readonly answer: (report: Report) => readonly TargetEvent[];
  /** Sends a refresh, whose report answers all demands so far. */
  readonly command: (refresh: Refresh) => void;
}

/** From demands and reports to commands and answers. It runs beside the sinks. */
export const servingPipeline = (parts: ServingParts): Observable<TargetEvent> =>
  merge(parts.demand$, parts.report$).pipe(
    coalesce(parts.spacingMs, parts.nowMs, parts.scheduler), // refresh now, later, or not at all
    mergeMap(({ report, refresh }) => {
      const events = report === undefined ? [] : parts.answer(report); // to the sinks, each by its scope
      if (refresh !== undefined) parts.command(refresh);
      return events;
    }),
  );

/** Carries out refreshes as far as that goes without a root. */
const withoutRoot = (
  choice: Exclude<RootChoice, ChosenRoot>,
  { open$, look }: HostingParts,
): Observable<Step> =>
  open$.pipe(
    filter((input) => input !== undefined),
    map((): Step => {
      look(); // ends this where it shows a root, which the refresh is then carried out on
      return { kind: 'rootless' };
    }),
    startWith<Step>({ kind: 'root', choice, view: undefined }),
  );

/** A target that failed is started anew after this time; its demands are told why meanwhile. */
export const RESTART_MS = 5000;
function whileDown(error: unknown, parts: HostingParts): Observable<Step> {
  const [key = ''] = parts.serverKeys;
  const reason = `a restart after a failure: ${messageOf(error)}`;
  const choice = { kind: 'none', reason, publisher: parts.pool.publisher(key) } as const;
  return withoutRoot(choice, parts).pipe(takeUntil(timer(RESTART_MS, parts.scheduler)));
}

function withRoot(choice: ChosenRoot, parts: HostingParts): Observable<Step> {
  const { pool, queue, tasks, open$, look, refreshed } = parts;
  return defer(() => {
    const view = parts.makeView(choice);
    const structure = { pollResults: 0, hasChanges: () => choice.source.hasChanges() };
    const refresher = new ViewRefresher(view, structure);
    // A demand looks at the segment itself, so between demands a ready target mostly need not.
    const isUrgent = () => !refresher.isReady || parts.isEager || view.hasObserved;
    const change$ = pool.pollResult$(choice.serverKey, isUrgent).pipe(
      map((pollResult): Change => {
        if (pollResult.changes.length > 0 || pollResult.hasMore) structure.pollResults++;
        return { kind: 'change', pollResult, number: structure.pollResults };
      }),
    );
    const refresh$ = open$.pipe(filter((refresh) => refresh !== undefined));
    const takeIn = (input: TargetInput) => refresher.process(input); // copy, startup gate, render
    const isEarly = () => refresher.isPartial;
    const bind$ = unbound$((wake) => view.whenMore(wake));
    return merge<TargetInput[]>(bind$, change$, refresh$).pipe(
      inTurn(queue, { takeIn, look, isEarly, took: refreshed }), // one after the other
      startWith<Step>({ kind: 'root', choice, view }),
      finalize(() => {
        refresher.release();
        const closing = view.closing();
        tasks.start(() => closing.next().done === true);
      }),
    );
  });
}
