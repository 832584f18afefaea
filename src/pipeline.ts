// One target from shared memory to its answers: the file that a newcomer reads first.
import {
  Subject,
  asyncScheduler,
  catchError,
  concat,
  defer,
  filter,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  startWith,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { BehaviorSubject, Observable, SchedulerLike } from 'rxjs';
import type { Budget } from './budget.js';
import { messageOf } from './errors.js';
import type { TargetView } from './exposition/target-view.js';
import type { TargetEvent } from './model.js';
import { bindings } from './streams/bindings.js';
import { chooseRoot } from './streams/choose-root.js';
import type { ChosenRoot, RootChoice, DesiredRoot } from './streams/choose-root.js';
import { closeInTurns } from './streams/close-in-turns.js';
import { coalesce } from './streams/coalesce.js';
import type { Arrival, Deferred, Demand, Due } from './streams/coalesce.js';
import type { Refresh } from './streams/command.js';
import { latchReady } from './streams/latch-ready.js';
import { inTurn } from './streams/refresh-queue.js';
import type { RefreshQueue } from './streams/refresh-queue.js';
import { mergedChanges, precedes, refreshView } from './streams/refresh-view.js';
import type { Change, TargetInput } from './streams/refresh-view.js';
import { render } from './streams/render.js';
import type { Rendered } from './streams/render.js';
import { Slices } from './streams/slices.js';
import type { ServingReport } from './streams/report.js';
import type { ServerPool } from './streams/server-pool.js';

/** The refresh that is not carried out yet; undefined where there is none. */
export type OpenRefresh = BehaviorSubject<Refresh | undefined>;

export interface HostingParts extends DesiredRoot {
  readonly serverKeys: readonly string[];
  readonly pool: ServerPool;
  /** Of the partition: one refresh at a time. */
  readonly queue: RefreshQueue;
  /** It outlives roots: what is open when a root is lost is carried out without one. */
  readonly open$: OpenRefresh;
  /** Whether changes matter without a demand: they are rendered then, or logged. */
  readonly isEager: boolean;
  /** Has the pool look at the server keys for a refresh that is to be carried out now. */
  readonly look: () => void;
  readonly makeView: (chosen: ChosenRoot) => TargetView;
  /** A refresh took that many milliseconds, what follows it in the pipe included. */
  readonly refreshed: (tookMs: number) => void;
  /** What one turn of a render may take; without limit by default. */
  readonly slice?: (() => Budget) | undefined;
  readonly scheduler?: SchedulerLike | undefined;
}

/** What happened to a target in its partition. */
export type Step =
  | { readonly kind: 'root'; readonly choice: RootChoice; readonly view: TargetView | undefined }
  /** A refresh found no root to carry it out on. */
  | { readonly kind: 'rootless' }
  | ({ readonly kind: 'refreshed' } & Rendered);

/** Property by property, as in native/segment/tree.ts: it is read at each refresh. */
function refreshedStep(refresh: Rendered): Step {
  const { input, isDirty, isSynced, tick, isReady, hasRendered, snapshot } = refresh;
  return { kind: 'refreshed', input, isDirty, isSynced, tick, isReady, hasRendered, snapshot };
}

/** From shared memory to rendered text. It runs in a partition, for as long as it is subscribed to. */
export const hostingPipeline = (parts: HostingParts): Observable<Step> => {
  let hasRoot = false;
  const sightings = parts.serverKeys.map((key) => parts.pool.sighting$(key, () => !hasRoot));
  return chooseRoot(sightings, parts).pipe(
    switchMap((choice) => {
      hasRoot = choice.kind !== 'none';
      return choice.kind === 'none' ? withoutRoot(choice, parts) : withRoot(choice, parts);
    }),
    catchError((error: unknown, again$) => concat(whileDown(error, parts), again$)),
  );
};

export interface ServingParts {
  readonly demand$: Observable<Demand>;
  /** Of the partition that serves at the moment. */
  readonly report$: Observable<ServingReport>;
  /** `render_min_interval_ms`. */
  readonly spacingMs: () => number;
  /** Milliseconds of a clock that does not step. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
  /** Answers whoever waited for what arrived; returns what an operator wants to read. */
  readonly answer: (arrival: Arrival) => readonly TargetEvent[];
  /** Has the partition carry a refresh out for all who wait. */
  readonly command: (refresh: Refresh) => void;
}

/** From demands and reports to commands and answers. It runs beside the sinks. */
export const servingPipeline = (parts: ServingParts): Observable<TargetEvent> =>
  defer(() => {
    const { demand$, report$, spacingMs, nowMs, scheduler } = parts;
    const due$ = new Subject<Due>();
    return merge(demand$, report$, due$).pipe(
      coalesce(spacingMs, nowMs), //        refresh now, later, or not at all
      mergeMap(({ arrival, refresh, deferred }) => {
        const event$ = from(parts.answer(arrival)); // each by its scope, to the sinks
        if (refresh !== undefined) parts.command(refresh);
        return deferred === undefined ? event$ : merge(event$, whenDue(deferred, due$, scheduler));
      }),
    );
  });

const whenDue = (
  { deferral, dueMs }: Deferred,
  due$: Subject<Due>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<never> =>
  timer(dueMs, scheduler).pipe(
    map(() => {
      due$.next({ kind: 'due', deferral });
    }),
    ignoreElements(),
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

/** A refresh waits this long until the objects of its segment are read. */
const MAX_READING_MS = 1000;
/** A target that failed is started anew after this time; its demands are told why meanwhile. */
export const RESTART_MS = 5000;
function whileDown(error: unknown, parts: HostingParts): Observable<Step> {
  const [key = ''] = parts.serverKeys;
  const reason = `a restart after a failure: ${messageOf(error)}`;
  const choice = { kind: 'none', reason, publisher: parts.pool.publisher(key) } as const;
  return withoutRoot(choice, parts).pipe(takeUntil(timer(RESTART_MS, parts.scheduler)));
}

function withRoot(choice: ChosenRoot, parts: HostingParts): Observable<Step> {
  const { pool, queue, open$, look, refreshed, slice, scheduler } = parts;
  return defer(() => {
    const view = parts.makeView(choice);
    const structure = { sightings: 0, hasNews: () => choice.source.hasNews() };
    const bind$ = bindings((wake) => view.whenMore(wake));
    let isReady = false;
    /** Whether the segment has objects that were not read yet, and stands still enough to be read whole. */
    let isPartial = false;
    // A demand looks at the segment itself, so between demands a ready target mostly need not.
    const isUrgent = () => !isReady || parts.isEager || view.hasObserved;
    const change$ = pool.sighting$(choice.serverKey, isUrgent).pipe(
      map((sighting): Change => {
        if (sighting.changes.length > 0 || sighting.hasMore) structure.sightings++;
        isPartial = sighting.hasMore && sighting.isRestless !== true;
        return { kind: 'change', sighting, number: structure.sightings };
      }),
    );
    const refresh$ = open$.pipe(filter((refresh) => refresh !== undefined));
    const prepare = (input: TargetInput): void => {
      if (input.kind === 'refresh') look();
    };
    // The page of a ready target would lack what was added since its objects began to be read.
    const isEarly = ({ kind }: TargetInput, waitedMs: number): boolean =>
      kind === 'refresh' && isReady && isPartial && waitedMs < MAX_READING_MS;
    // Before the target is ready, a refresh waits for its binding, which must not rest for it.
    const goesFirst = (input: TargetInput): boolean => input.kind === 'refresh' && isReady;
    const slices = new Slices(slice);
    const rules = {
      merged: mergedChanges,
      prepare,
      precedes,
      isUrgent: goesFirst,
      isEarly,
      rest: slices,
    };
    return merge<TargetInput[]>(bind$, change$, refresh$).pipe(
      inTurn(queue, refreshed, rules), //           one refresh at a time in each partition
      refreshView(view, slices, structure), // structure in, values copied
      latchReady(), //                              the startup gate, which opens once
      tap((each) => {
        isReady = each.isReady;
      }),
      render(view, slices), //                        a new text, where a refresh may make one
      map(refreshedStep),
      startWith<Step>({ kind: 'root', choice, view }),
      finalize(() => {
        closeInTurns(view.closing(), slice, scheduler);
      }),
    );
  });
}
