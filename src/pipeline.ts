// The pipeline of a target, from shared memory to the answers of its scrapes. Read it after model.ts.
import {
  Observable,
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
import type { SchedulerLike } from 'rxjs';
import { messageOf } from './errors.js';
import type { TargetView } from './exposition/target-view.js';
import type { FoundRoot, TargetEvent } from './model.js';
import { chooseRoot } from './streams/choose-root.js';
import type { ChosenRoot, RootChoice } from './streams/choose-root.js';
import { throttleRenders } from './streams/throttle-renders.js';
import type { Demand } from './streams/throttle-renders.js';
import { processInputs } from './streams/target-inputs.js';
import type { Refresh, TargetInput } from './streams/target-inputs.js';
import type { TaskQueue } from './streams/task-queue.js';
import type { RefreshReport, Report } from './streams/report.js';
import type { Scheduler } from './streams/scheduler.js';
import type { PollerPool } from './streams/poller-pool.js';
import { ViewRefresher } from './streams/view-refresher.js';
import type { ProcessedInput } from './streams/view-refresher.js';
import type { TargetDefinition } from './targets/formats.js';

export interface HostingParts {
  readonly definition: TargetDefinition;
  /** The root that the target had in the previous hosting. */
  readonly formerRoot?: FoundRoot | undefined;
  readonly pool: PollerPool;
  /** The scheduler of the thread. */
  readonly tasks: Scheduler;
  /** The queue of the partition. */
  readonly queue: TaskQueue;
  /** The unanswered refresh. It outlives the root: if the root is lost, the answer states that there is no root. */
  readonly openRefresh$: Observable<Refresh | undefined>;
  /** Polls the server keys for a refresh. */
  readonly poll: () => void;
  readonly makeView: (chosen: ChosenRoot) => TargetView;
  /** Called with the duration of each task. */
  readonly onTaskEnd: (tookMs: number) => void;
  readonly scheduler?: SchedulerLike | undefined;
}

/** A change of the root of a hosted target, or the result of an input of that target. */
export type HostingUpdate =
  | { readonly kind: 'root'; readonly choice: RootChoice; readonly view: TargetView | undefined }
  /** A refresh arrived while no root was chosen. */
  | { readonly kind: 'no-root'; readonly input: Refresh }
  | ProcessedInput;

/**
 * Copies values from shared memory and renders them. Runs in a partition while subscribed. Only the stream of the
 * current root choice answers refreshes. An operator that withholds a root must therefore emit a choice without a
 * root, with the reason.
 */
export const hostingPipeline = (parts: HostingParts): Observable<HostingUpdate> => {
  const { pool, formerRoot } = parts;
  const { app, instance: hint, serverKeys } = parts.definition;
  let hasRoot = false;
  const pollResults = serverKeys.map((key) => pool.pollResult$(key, () => !hasRoot));
  return chooseRoot(pollResults, { app, hint, formerRoot }).pipe(
    switchMap((choice) => {
      hasRoot = choice.kind !== 'none';
      return choice.kind === 'none' ? withoutRoot(choice, parts) : withRoot(choice, parts);
    }),
    catchError((error: unknown, again$) => concat(afterFailure(error, parts), again$)),
  );
};

export interface ServingParts<R extends RefreshReport> {
  readonly demand$: Observable<Demand>;
  readonly report$: Observable<Report>;
  /** The present definition. A reload replaces it. */
  readonly definition: () => TargetDefinition;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
  /** Refreshes the target for all demands so far. Emits at most one report. */
  readonly refresh: (mayRender: boolean) => Observable<R>;
  /** Takes a report, and answers the demands of a refresh; returns events for the log. */
  readonly receive: (report: Report | R) => readonly TargetEvent[];
}

/** Turns demands into refreshes, and reports into answers. Runs in the main thread, in both execution modes. */
export const servingPipeline = <R extends RefreshReport>(
  parts: ServingParts<R>,
): Observable<TargetEvent> => {
  const { refresh, nowMs, scheduler } = parts;
  const intervalMs = () => parts.definition().renderMinIntervalMs;
  return merge(parts.demand$, parts.report$).pipe(
    throttleRenders(refresh, intervalMs, nowMs, scheduler), // refresh now, later, or not at all
    mergeMap((report) => parts.receive(report)), // answers each demand within its scope
  );
};

/** Answers refreshes while no root is chosen. */
const withoutRoot = (
  choice: Exclude<RootChoice, ChosenRoot>,
  { openRefresh$, poll }: HostingParts,
): Observable<HostingUpdate> =>
  openRefresh$.pipe(
    filter((refresh) => refresh !== undefined),
    map((input): HostingUpdate => {
      poll(); // a root that appears now ends this stream, and the refresh uses that root
      return { kind: 'no-root', input };
    }),
    startWith<HostingUpdate>({ kind: 'root', choice, view: undefined }),
  );

/** The delay after which a failed target starts again. Until then its answers state the reason. */
export const RESTART_MS = 5000;
function afterFailure(error: unknown, parts: HostingParts): Observable<HostingUpdate> {
  const [key = ''] = parts.definition.serverKeys;
  const reason = `a restart after a failure: ${messageOf(error)}`;
  const choice = { kind: 'none', reason, publisher: parts.pool.publisher(key) } as const;
  return withoutRoot(choice, parts).pipe(takeUntil(timer(RESTART_MS, parts.scheduler)));
}

function withRoot(choice: ChosenRoot, parts: HostingParts): Observable<HostingUpdate> {
  const { definition, pool, queue, tasks, openRefresh$, poll, onTaskEnd } = parts;
  const needsEachChange = definition.renderMinIntervalMs === 0 || definition.isDebug;
  return defer(() => {
    const view = parts.makeView(choice);
    const refresher = new ViewRefresher(view, choice.source);
    // Every refresh polls. Poll between refreshes too if the target is not ready, must render or log each change, or
    // observes values.
    const isUrgent = () => !refresher.isReady || needsEachChange || view.hasObserved;
    const poll$ = pool
      .pollResult$(choice.serverKey, isUrgent)
      .pipe(map((pollResult) => refresher.pollInput(pollResult)));
    const refresh$ = openRefresh$.pipe(filter((refresh) => refresh !== undefined));
    const bind$ = new Observable<TargetInput>((subscriber) => {
      const bind = (): void => {
        subscriber.next({ kind: 'bind' });
      };
      const end = view.onMoreToBind(bind);
      bind();
      return end;
    });
    const process = (input: TargetInput) => refresher.process(input); // copy, check readiness, render
    const isPageIncomplete = () => refresher.isPageIncomplete;
    return merge<TargetInput[]>(bind$, poll$, refresh$).pipe(
      processInputs(queue, { process, poll, isPageIncomplete, onTaskEnd }), // one task at a time
      startWith<HostingUpdate>({ kind: 'root', choice, view }),
      finalize(() => {
        refresher.release();
        const closing = view.closing();
        tasks.start(() => closing.next().done === true);
      }),
    );
  });
}
