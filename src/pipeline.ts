// The pipeline of a target, from shared memory to the answers of its scrapes. Read it after model.ts.
import {
  Observable,
  catchError,
  combineLatest,
  concat,
  defer,
  filter,
  finalize,
  map,
  merge,
  mergeMap,
  repeat,
  startWith,
  switchMap,
  takeUntil,
  takeWhile,
  timer,
} from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { messageOf } from './errors.js';
import type { TargetView } from './exposition/target-view.js';
import type { FoundRoot, Refresh, TargetEvent } from './model.js';
import { RootChooser } from './streams/choose-root.js';
import type { ChosenRoot, RootChoice } from './streams/choose-root.js';
import { throttleRenders } from './streams/throttle-renders.js';
import type { Demand } from './streams/throttle-renders.js';
import type { Scheduler, TaskQueue, TaskTimes } from './streams/scheduler.js';
import type { Report } from './streams/report.js';
import type { PolledKey, PollerPool } from './streams/poller-pool.js';
import { ViewRefresher } from './streams/view-refresher.js';
import type { ProcessedInput, TargetInput } from './streams/view-refresher.js';
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
  readonly makeView: (chosen: ChosenRoot) => TargetView;
  /** Called with the times of each task. */
  readonly onTaskEnd: (times: TaskTimes) => void;
  readonly scheduler?: SchedulerLike | undefined;
}

/** A change of the root of a hosted target, or the result of an input of that target. */
export type HostingUpdate =
  | { readonly kind: 'root'; readonly choice: RootChoice; readonly view: TargetView | undefined }
  /** A refresh arrived while no root was chosen. */
  | { readonly kind: 'no-root'; readonly input: Refresh }
  | ProcessedInput;

/** Copies values from shared memory and renders them. Runs in a partition while subscribed. */
export const hostingPipeline = (parts: HostingParts): Observable<HostingUpdate> => {
  const { definition, formerRoot, pool } = parts;
  const { app, instance: hint, serverKeys } = definition;
  return combineLatest(serverKeys.map((serverKey) => pool.open(serverKey))).pipe(
    switchMap((keys) => {
      const chooser = new RootChooser({ app, hint, formerRoot });
      return defer(() => untilNextChoice(keys, chooser, parts)).pipe(repeat());
    }),
    catchError((error: unknown, again$) => concat(afterFailure(error, parts), again$)),
  );
};

export interface ServingParts {
  readonly demand$: Observable<Demand>;
  readonly report$: Observable<Report>;
  /** The present definition. A reload replaces it. */
  readonly definition: () => TargetDefinition;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
  /** Starts a refresh of the target for all demands so far; returns false if it cannot start. */
  readonly refresh: (mayRender: boolean) => boolean;
  /** Takes a report, and answers the demands of a refresh; returns events for the log. */
  readonly receive: (report: Report) => readonly TargetEvent[];
}

/** Turns demands into refreshes, and reports into answers. Runs in the main thread, in both execution modes. */
export const servingPipeline = (parts: ServingParts): Observable<TargetEvent> => {
  const { refresh, nowMs, scheduler } = parts;
  const intervalMs = () => parts.definition().renderMinIntervalMs;
  return merge(parts.demand$, parts.report$).pipe(
    throttleRenders(refresh, intervalMs, nowMs, scheduler), // refresh now, later, or not at all
    mergeMap((report) => parts.receive(report)), // answers each demand within its scope
  );
};

/** Runs the target with the present choice of its root. Completes when there is another choice. */
function untilNextChoice(
  keys: readonly PolledKey[],
  chooser: RootChooser,
  parts: HostingParts,
): Observable<HostingUpdate> {
  const choose = () => chooser.choose(keys.map(({ lastNew }) => lastNew));
  const choice = choose();
  // The chooser returns the same object for the same choice.
  const isSameChoice = () => choose() === choice;
  /** Polls all keys. Returns whether the choice is still the same. */
  const poll = (): boolean => {
    for (const key of keys) key.poll();
    return isSameChoice();
  };
  const rootKey = keys.find(
    ({ lastNew }) => choice.kind === 'chosen' && choice.serverKey === lastNew.serverKey,
  );
  for (const key of keys) key.needsEachChange = rootKey === undefined || key === rootKey;
  const changed$ = merge(...keys.map(({ result$ }) => result$)).pipe(filter(() => !isSameChoice()));
  const update$ =
    choice.kind === 'chosen' && rootKey !== undefined
      ? withRoot(choice, rootKey, poll, parts)
      : withoutRoot(choice, poll, parts);
  return update$.pipe(takeUntil(changed$));
}

/**
 * Answers refreshes while no root is chosen. Each refresh polls, except one that is open at the start, since a poll has
 * just led to the choice. Completes when a poll leads to another choice.
 */
const withoutRoot = (
  choice: RootChoice,
  poll: () => boolean,
  { openRefresh$ }: HostingParts,
): Observable<HostingUpdate> =>
  openRefresh$.pipe(
    takeWhile((refresh, index) => index === 0 || refresh === undefined || poll()),
    filter((refresh) => refresh !== undefined),
    map((input): HostingUpdate => ({ kind: 'no-root', input })),
    startWith<HostingUpdate>({ kind: 'root', choice, view: undefined }),
  );

/** The delay after which a failed target starts again. Until then its answers state the reason. */
export const RESTART_MS = 5000;
function afterFailure(error: unknown, parts: HostingParts): Observable<HostingUpdate> {
  const [key = ''] = parts.definition.serverKeys;
  const reason = `a restart after a failure: ${messageOf(error)}`;
  const { publisher } = parts.pool.lastPolled(key);
  const update$ = withoutRoot({ kind: 'none', reason, publisher }, () => true, parts);
  return update$.pipe(takeUntil(timer(RESTART_MS, parts.scheduler)));
}

/** Processes inputs of the root. Completes when the poll of a refresh finds that the root is lost. */
function withRoot(
  choice: ChosenRoot,
  key: PolledKey,
  poll: () => boolean,
  parts: HostingParts,
): Observable<HostingUpdate> {
  const { definition, queue, tasks, openRefresh$, onTaskEnd: onEnd } = parts;
  const needsEachChange = definition.renderMinIntervalMs === 0 || definition.isDebug;
  return defer(() => {
    const view = parts.makeView(choice);
    const refresher = new ViewRefresher(view, choice.source, () => queue.nowMs);
    const bind$ = new Observable<TargetInput>((subscriber) => {
      const bind = (): void => {
        subscriber.next({ kind: 'bind' });
      };
      const end = view.onMoreToBind(bind);
      bind();
      return end;
    });
    const poll$ = key.result$.pipe(
      startWith(key.lastNew),
      map((pollResult): TargetInput => ({ kind: 'poll', pollResult })),
    );
    const refresh$ = openRefresh$.pipe(filter((refresh) => refresh !== undefined));
    const steps = () => refresher.task(() => (poll() ? key.lastNew : undefined));
    const isUrgent = () => refresher.hasRefresh;
    return merge<TargetInput[]>(bind$, poll$, refresh$).pipe(
      map((input) => {
        refresher.add(input);
      }),
      queue.runTasks({ steps, isUrgent, onEnd }), // poll, bind, copy, check readiness, render
      takeWhile((result) => result.kind !== 'lost'),
      map((update): HostingUpdate => {
        // Every refresh polls. Poll between refreshes too if the target is not ready, must render or log each change,
        // or observes values.
        key.needsEachChange = !refresher.isReady || needsEachChange || view.hasObserved;
        return update;
      }),
      startWith<HostingUpdate>({ kind: 'root', choice, view }),
      finalize(() => {
        refresher.release();
        const closing = view.closing();
        tasks.start(() => closing.next().done === true);
      }),
    );
  });
}
