// A target for sinks, with the state that outlives a hosting.
import { Observable, Subject, defer, finalize } from 'rxjs';
import type { SchedulerLike, Subscriber } from 'rxjs';
import { addCounts, newCounters } from '../exposition/counters.js';
import { DurationHistogram } from '../exposition/duration-histogram.js';
import { once } from '../exposition/memoize.js';
import { selected } from '../exposition/page/scope.js';
import { hasText, isText, sizeOf } from '../exposition/page/text-page.js';
import { SampleWindow } from '../exposition/sample-window.js';
import { DEFAULT_FORM } from '../model.js';
import type {
  DemandAnswer,
  FamilyMetadata,
  FoundRoot,
  InternalMetric,
  FormatInfo,
  LineForm,
  Scope,
  Snapshot,
  Target,
  TargetEvent,
  TargetStatus,
  TargetTimes,
  TreeAnswer,
  TreeQuery,
} from '../model.js';
import { servingPipeline } from '../pipeline.js';
import type { Demand } from '../streams/throttle-renders.js';
import type { RefreshReport, Report } from '../streams/report.js';
import { FORMATS, targetLabelsOf } from './formats.js';
import { Handover } from './handover.js';
import type { Assignment } from './handover.js';
import { detailMetrics, internalFamilies, internalMetrics } from './internal-metrics.js';
import type { PageLevel, Rebalances, TargetCounters } from './internal-metrics.js';
import { TargetHistory } from './target-history.js';

export interface ServedParts extends Assignment {
  readonly rebalances: Rebalances;
  /** The internal metrics on the pages of the target; by default, all of them. */
  readonly pageLevel?: PageLevel;
  /** Unix time in milliseconds. */
  readonly unixMs: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
}

/** The reason in the answers to pending demands when a reload removes their target, or when the exporter ends. */
const ENDED = 'nothing: the exporter does not serve this target any more';

/** A demand that waits for an answer. */
interface PendingDemand {
  readonly scope: Scope | undefined;
  readonly form: LineForm;
  readonly subscriber: Subscriber<DemandAnswer>;
}

export class ServedTarget implements Target {
  readonly #parts: ServedParts;
  readonly #handover: Handover;
  readonly #demand$ = new Subject<Demand>();
  /** The demands that the next refresh answers. */
  readonly #queued = new Set<PendingDemand>();
  /** The demands that the open refresh answers. */
  readonly #asked = new Set<PendingDemand>();
  readonly #counts: TargetCounters = {
    ...newCounters(),
    ...{ cacheHits: 0, cacheMisses: 0, scopeHits: 0, scopeMisses: 0 },
  };
  readonly #refreshes = new SampleWindow();
  readonly #durations = new DurationHistogram();
  readonly #waits = new DurationHistogram();
  /** The last snapshot, which the target serves until the next render, and the function that releases it. */
  #snapshot: Snapshot | undefined;
  #release = (): void => undefined;
  readonly #history: TargetHistory;
  #lastRoot: FoundRoot | undefined;

  constructor(parts: ServedParts) {
    this.#parts = parts;
    this.#handover = new Handover(parts, parts.scheduler);
    this.#history = new TargetHistory(parts.nowMs());
  }

  get app(): string {
    return this.assignment.definition.app;
  }
  get serverKeys(): readonly string[] {
    return this.assignment.definition.serverKeys;
  }
  get instance(): string {
    return this.assignment.definition.instance;
  }
  get format(): FormatInfo {
    const { format: name } = this.assignment.definition;
    const { certainty = '', notifies = false } = FORMATS.get(name) ?? {};
    return { name, certainty, notifies };
  }
  get keyLabels(): Readonly<Record<string, string>> {
    return this.assignment.definition.keyLabels;
  }
  get isDiscovered(): boolean {
    return this.assignment.definition.isDiscovered;
  }
  get lastRoot(): FoundRoot | undefined {
    return this.#lastRoot;
  }
  /** The desired definition and partition. During a handover, another hosting still serves. */
  get assignment(): Assignment {
    return this.#handover.desired;
  }
  /** The total duration of all refreshes so far, in milliseconds. */
  get busyMs(): number {
    return this.#refreshes.sum;
  }

  /** Runs the target while the result has a subscriber; emits events for the log. */
  run(): Observable<TargetEvent> {
    const { nowMs, scheduler } = this.#parts;
    return defer(() =>
      servingPipeline({
        demand$: this.#demand$,
        report$: this.#handover.run(),
        definition: () => this.assignment.definition,
        nowMs,
        scheduler,
        refresh: (mayRender) => this.#refresh(mayRender),
        receive: (report) => this.#receive(report),
      }).pipe(
        finalize(() => {
          this.#keep(undefined);
          this.#reject(this.#asked);
          this.#reject(this.#queued);
        }),
      ),
    );
  }

  /**
   * Changes partition or definition while the target is served. Completes when the change is done or
   * abandoned.
   */
  change(desired: Partial<Assignment>): Observable<never> {
    return this.#handover.change(desired);
  }

  demand(scope?: Scope, form = DEFAULT_FORM): Observable<DemandAnswer> {
    return new Observable((subscriber) => {
      const pending: PendingDemand = { scope, form, subscriber };
      this.#queued.add(pending);
      if (this.#handover.isRunning) this.#demand$.next({ kind: 'demand' });
      else this.#reject(this.#queued);
      return () => this.#queued.delete(pending);
    });
  }

  status(): TargetStatus {
    const { state, partition } = this.#handover.serving;
    const { serverKey, root, isReady, progress, publisher, process } = state;
    return {
      app: this.app,
      serverKey,
      root: root ?? '',
      isReady,
      progress,
      publisher,
      process,
      partition: partition.number,
    };
  }

  times(): TargetTimes {
    return this.#history.times(this.#parts.nowMs(), this.#parts.unixMs());
  }

  get lastFamilies(): readonly FamilyMetadata[] | undefined {
    return this.#snapshot?.metadata;
  }

  queryTree(query: TreeQuery): Observable<TreeAnswer> {
    return defer(() => this.#handover.serving.queryTree(query));
  }

  internal(): InternalMetric[] {
    const { rebalances, unixMs, nowMs } = this.#parts;
    const { state } = this.#handover.serving;
    const counts = this.#counts;
    const refreshes = this.#refreshes.durations;
    const notificationAge = this.#history.notificationAge(nowMs());
    const moment = { state, counts, refreshes, rebalances, notificationAge, unixMs: unixMs() };
    return internalMetrics(moment);
  }

  internalDetails(): InternalMetric[] {
    return detailMetrics(this.#handover.serving.state, this.#durations, this.#waits);
  }

  /** Starts a refresh for all demands that wait. Rejects them and returns false if it cannot start. */
  #refresh(isAllowed: boolean): boolean {
    // The demands of a refresh that the former hosting did not answer are asked again.
    for (const each of this.#queued) this.#asked.add(each);
    this.#queued.clear();
    const forms = [...new Set(Array.from(this.#asked, ({ form }) => form))];
    const lacksText = this.#snapshot === undefined || !hasText(this.#snapshot);
    const mayRender = isAllowed || (lacksText && forms.some(isText));
    // Release the snapshot before the render, so that the partition can reuse its memory, which is in the CPU cache.
    if (mayRender) this.#keep(undefined);
    const isStarted = this.#handover.refresh({ kind: 'refresh', mayRender, forms });
    if (!isStarted) this.#reject(this.#asked);
    return isStarted;
  }

  #receive(report: Report): readonly TargetEvent[] {
    if ('counts' in report) {
      addCounts(this.#counts, report.counts);
      for (const { waitedMs, tookMs } of report.tasks) {
        this.#refreshes.add(tookMs);
        this.#durations.add(tookMs);
        this.#waits.add(waitedMs);
      }
    }
    if ('state' in report) {
      const { root, serverKey, isReady } = report.state;
      if (root !== undefined) this.#lastRoot = { serverKey, id: root };
      if (!isReady) this.#keep(undefined);
      this.#history.note(report.state, this.#parts.nowMs());
    }
    switch (report.kind) {
      case 'refreshed':
        return this.#answer(report);
      case 'failed':
        this.#reject(this.#asked);
        return [];
      case 'event':
        return [aboutTarget(this, report.event)];
      default:
        return [];
    }
  }

  /** The labels of the target on its series; undefined if they have none. */
  #labels(): Readonly<Record<string, string>> | undefined {
    // Until a standby serves, the lines have the labels of the former definition.
    const { definition } = this.#handover.serving;
    if (definition.targetLabels === undefined || this.#lastRoot === undefined) return undefined;
    return targetLabelsOf(definition, this.#lastRoot);
  }

  /** Holds a snapshot, and releases the last one. */
  #keep(next: Snapshot | undefined): void {
    const release = next?.hold() ?? (() => undefined);
    this.#release();
    this.#snapshot = next;
    this.#release = release;
  }

  #answer({ hasRendered, snapshot: own }: RefreshReport): readonly TargetEvent[] {
    // Hold it before the report has been emitted: after that, the partition may reuse its memory.
    if (own !== undefined) this.#keep(own);
    const snapshot = this.#snapshot;
    const waiting = [...this.#asked].filter(({ subscriber }) => !subscriber.closed);
    this.#asked.clear();
    // The target became ready during the refresh. `throttleRenders` repeats the refresh, which answers the demands.
    if (snapshot === undefined && this.status().isReady) {
      for (const each of waiting) this.#queued.add(each);
      return [];
    }
    // A subscriber may demand again at once, and the next render releases the kept snapshot.
    const release = snapshot?.hold() ?? (() => undefined);
    waiting.forEach(({ scope, subscriber }, index) => {
      const status = this.status();
      if (snapshot === undefined) {
        answer(subscriber, { kind: 'waiting', status });
        return;
      }
      const part = scope && selected(snapshot, scope);
      // Count the scrape first, so that its own page includes it. Of the scrapes that share a render, one is a miss.
      this.#counts[hasRendered && index === 0 ? 'cacheMisses' : 'cacheHits']++;
      if (part !== undefined) this.#counts[part.isHit ? 'scopeHits' : 'scopeMisses']++;
      // The host page does not read them.
      const internal = once(() =>
        internalFamilies(this.internal(), status, scope, this.#parts.pageLevel),
      );
      answer(subscriber, {
        kind: 'ready',
        snapshot: part?.selection ?? snapshot,
        get internal() {
          return internal();
        },
        status,
        labels: this.#labels(),
      });
    });
    release();
    if (!this.assignment.definition.isDebug || snapshot === undefined) return [];
    const done = hasRendered ? 'rendered' : 'served';
    const { series, bytes } = sizeOf(snapshot);
    const message = `${done} ${series} series, ${bytes} bytes`;
    return waiting.map(() => aboutTarget(this, { level: 'debug', message }));
  }

  /** Answers these demands with the reason why there is no page. */
  #reject(demands: Set<PendingDemand>): void {
    const now = this.status();
    const { progress } = now;
    // A ready target has no reason to wait. Its demands are rejected only when the target ends.
    const reason = progress.reason === '' ? ENDED : progress.reason;
    const status = { ...now, progress: { ...progress, reason } };
    const all = [...demands];
    demands.clear();
    for (const { subscriber } of all) answer(subscriber, { kind: 'waiting', status });
  }
}

function answer(subscriber: Subscriber<DemandAnswer>, given: DemandAnswer): void {
  subscriber.next(given);
  subscriber.complete();
}

/** An event that names its target. @param message the rest of the sentence after the target's name */
export function aboutTarget(
  { app, serverKeys }: Pick<Target, 'app' | 'serverKeys'>,
  { level, message }: TargetEvent,
): TargetEvent {
  const name = `target ${app} on ${serverKeys.join(', ')}`;
  return { level, message: `${name} ${message}`, about: { app, serverKeys } };
}
