// The state of a target in its partition, and the reports on it.
import { pluralize } from '../../pluralize.js';
import { diffOf, newCounters } from '../../exposition/counters.js';
import type { Counts } from '../../exposition/counters.js';
import type { HighlightedValue } from '../../exposition/read/highlight.js';
import { limitText, limitsOf } from '../../exposition/target-limits.js';
import type { TargetLimits } from '../../exposition/target-limits.js';
import type { TargetView } from '../../exposition/target-view.js';
import { numberText } from '../../exposition/text/text-syntax.js';
import type { PublisherState, SyncProgress, TargetEvent } from '../../model.js';
import type { HostingUpdate } from '../../pipeline.js';
import { shortened } from '../../streams/choose-root.js';
import type { RootChoice } from '../../streams/choose-root.js';
import type { TaskQueue, TaskTimes } from '../../streams/scheduler.js';
import { NO_PROGRESS } from '../../streams/report.js';
import type { Notifications, RefreshReport, Report, TargetState } from '../../streams/report.js';
import type { PollerPool } from '../../streams/poller-pool.js';
import type { ProcessedInput } from '../../streams/view-refresher.js';
import type { PollResult } from '../../streams/poller.js';
import { FORMATS } from '../formats.js';
import type { TargetDefinition } from '../formats.js';

/** The maximum number of duplicate series that are logged by name. */
const MAX_NAMED_CLASHES = 100;
/** The maximum number of different format warnings that are logged in a period, and the period. */
const MAX_WARNINGS = 16;
const WARNINGS_MS = 3_600_000;
/** The maximum number of events that wait for the next update. */
const MAX_WAITING_EVENTS = 1000;

const CHANGED: Report = { kind: 'changed' };
/** The result of a refresh without a root. */
const NOT_RENDERED = { hasRendered: false, isDirty: false, snapshot: undefined };

export class Reporter {
  /** The counters of all views of the target. */
  readonly counters = newCounters();
  /** The times of each task since the last report; the internal metrics call a task a refresh. */
  readonly tasks: TaskTimes[] = [];
  readonly #definition: TargetDefinition;
  readonly #pool: PollerPool;
  readonly #queue: TaskQueue;
  #reported: Counts = newCounters();
  readonly #clashes = new Set<string>();
  readonly #exceeded = new Set<keyof TargetLimits>();
  readonly #nowMs: () => number;
  /** The warnings that are logged, and that still hold or were logged in the current period. */
  #warnings = new Set<string>();
  #warningsLeft = 0;
  #warningsSinceMs = -Infinity;
  #events: TargetEvent[] = [];
  #choice: RootChoice | undefined;
  #hasChosenRoot = false;
  #view: TargetView | undefined;
  #isReady = false;
  #publisherState: PublisherState | undefined;
  #highlighted: HighlightedValue | undefined;
  /** The number of notifications in the last reported state. */
  #notifications: number | undefined;
  /** Whether the target had an update since the last reported state. */
  #hasNewUpdate = true;

  constructor(
    definition: TargetDefinition,
    pool: PollerPool,
    queue: TaskQueue,
    nowMs: () => number,
  ) {
    this.#definition = definition;
    this.#pool = pool;
    this.#queue = queue;
    this.#nowMs = nowMs;
  }

  /** Whether anything besides the load of the queue may have changed since the last report. */
  get hasChanged(): boolean {
    if (this.#hasNewUpdate || !this.#isReady || this.#publisherState !== 'live') return true;
    return this.#notifications !== this.#countNotifications()?.count;
  }

  /** The object, variable or condition that the target waits for. */
  get reason(): string {
    return this.#progress().reason;
  }

  /** The reports on an update. */
  reportsOn(update: HostingUpdate): readonly Report[] {
    this.#hasNewUpdate = true;
    switch (update.kind) {
      case 'root':
        return [...this.#takeRoot(update), this.state()];
      case 'no-root':
        this.#logLookup();
        return this.#flush();
      case 'processed': {
        if (update.input.kind === 'refresh') this.#logLookup();
        const isChange = this.#noteInput(update);
        const needsRender =
          update.isReady &&
          update.input.kind !== 'refresh' &&
          this.#definition.renderMinIntervalMs === 0;
        return [
          ...this.#flush(),
          ...(isChange ? [this.state()] : []),
          ...(needsRender ? [CHANGED] : []),
        ];
      }
    }
  }

  /** The report on a refresh. @param update the update that the refresh caused */
  refreshed(update: HostingUpdate): RefreshReport {
    const { hasRendered, isDirty, snapshot } = update.kind === 'processed' ? update : NOT_RENDERED;
    const state = this.#state(this.#view?.asOfNs);
    return { kind: 'refreshed', state, ...this.#takeCounts(), hasRendered, isDirty, snapshot };
  }

  /** The present state, and the counts since the last report. */
  state(): Report {
    // Read the time of the values from the segment, since the copy is as old as the last refresh.
    return { kind: 'state', state: this.#state(this.#view?.readAsOfNs()), ...this.#takeCounts() };
  }

  /** Logs that a series was left out because it clashes with another one. Logs each series once. */
  clash(series: string, why: string): void {
    if (this.#clashes.size >= MAX_NAMED_CLASHES || this.#clashes.has(series)) return;
    this.#clashes.add(series);
    this.#log('warning', `left out series ${series}: ${why}`);
  }

  /** Logs the first item that a limit left out. */
  omitted(limit: keyof TargetLimits, item: string): void {
    if (this.#exceeded.has(limit)) return;
    this.#exceeded.add(limit);
    const why = limitText(limitsOf(this.#definition), limit);
    this.#log('warning', `left out ${item}: ${why}; further omissions are counted, not logged`);
  }

  #takeRoot({
    choice,
    view,
  }: Extract<HostingUpdate, { readonly kind: 'root' }>): readonly Report[] {
    const isLoss = this.#choice?.kind === 'chosen';
    this.#choice = choice;
    this.#view = view;
    this.#isReady = false;
    this.#publisherState = undefined;
    if (choice.kind === 'none') {
      this.#log(isLoss ? 'warning' : 'info', `waiting on ${choice.reason}`);
    } else {
      const { root, serverKey, others } = choice;
      this.#hasChosenRoot = true;
      this.#log('info', `selects root ${root.name} of server key ${serverKey}`);
      if (others.length > 0) this.#log('warning', `roots not selected: ${shortened(others)}`);
    }
    return this.#flush();
  }

  /** Records the result of an input. Returns whether the readiness or the publisher's state changed. */
  #noteInput({ input, isReady }: ProcessedInput): boolean {
    const isPublisherNew = input.kind === 'poll' && this.#notePublisher(input.pollResult);
    const isReadyNew = isReady && !this.#isReady;
    this.#isReady = isReady;
    if (isReadyNew) {
      const { objects, variables } = this.#progress();
      this.#log(
        'info',
        `ready: ${pluralize(objects.total, 'object')}, ${pluralize(variables.total, 'variable')}`,
      );
    }
    if (this.#definition.isDebug) this.#logProgress();
    return isPublisherNew || isReadyNew;
  }

  #notePublisher(pollResult: PollResult): boolean {
    const { publisher, notifications, changes } = pollResult;
    this.#logWarnings(pollResult);
    if (this.#definition.isDebug)
      this.#log(
        'debug',
        `update: notification ${notifications}, ${changes.length} changes in the directory`,
      );
    const isNew = publisher.state !== this.#publisherState;
    if (isNew && (this.#publisherState !== undefined || publisher.state !== 'live'))
      this.#log(publisher.state === 'live' ? 'info' : 'warning', publisher.reason);
    this.#publisherState = publisher.state;
    return isNew;
  }

  /** Logs each warning and notice once, and again if it has ceased for a period. */
  #logWarnings({ warnings = [], notices = [] }: PollResult): void {
    const texts = [...warnings, ...notices];
    if (texts.length === 0) return;
    const now = this.#nowMs();
    if (now - this.#warningsSinceMs >= WARNINGS_MS) {
      this.#warnings = new Set(texts.filter((each) => this.#warnings.has(each)));
      this.#warningsLeft = MAX_WARNINGS;
      this.#warningsSinceMs = now;
    }
    for (const [index, text] of texts.entries()) {
      if (this.#warningsLeft === 0) return;
      if (this.#warnings.has(text)) continue;
      this.#warnings.add(text);
      this.#log(index < warnings.length ? 'warning' : 'info', text);
      if (--this.#warningsLeft === 0)
        this.#log(
          'warning',
          'further warnings are not logged for an hour; the status page names the first omission',
        );
    }
  }

  /** Logs the state of the server keys after the poll of a refresh. */
  #logLookup(): void {
    if (!this.#definition.isDebug) return;
    const found = this.#definition.serverKeys.map(
      (key) => `server key ${key} ${this.#pool.lastPolled(key).publisher.state}`,
    );
    const root = this.#choice?.kind === 'chosen' ? `root ${this.#choice.root.name}` : 'no root';
    this.#log('debug', `lookup: ${found.join(', ')}; ${root}`);
  }

  #logProgress(): void {
    this.#logHighlighted();
    if (this.#isReady) return;
    const { objects, variables, reason } = this.#progress();
    const counts = `objects ${objects.synced}/${objects.total}, variables ${variables.synced}/${variables.total}`;
    this.#log('debug', `sync: ${counts}, waiting on ${reason}`);
  }

  #logHighlighted(): void {
    const value = this.#view?.highlighted;
    if (value === this.#highlighted) return;
    this.#highlighted = value;
    const text = value && (value.text ?? numberText(value.value));
    this.#log('debug', `${this.#definition.variable} is ${text ?? 'without a value'}`);
  }

  /** The counts since the last report. */
  #takeCounts(): Pick<RefreshReport, 'tasks' | 'counts'> {
    const counts = diffOf(this.counters, this.#reported);
    this.#reported = { ...this.counters };
    return { tasks: this.tasks.splice(0), counts };
  }

  /** @param asOfNs the time (Unix ns) that the publisher states for the root's values */
  #state(asOfNs: bigint | undefined): TargetState {
    this.#hasNewUpdate = false;
    const notifications = this.#countNotifications();
    this.#notifications = notifications?.count;
    const chosen = this.#choice?.kind === 'chosen' ? this.#choice : undefined;
    const serverKey = chosen?.serverKey ?? this.#definition.serverKeys[0] ?? '';
    const publisher =
      this.#choice?.kind === 'none'
        ? this.#choice.publisher
        : this.#pool.lastPolled(serverKey).publisher;
    return {
      serverKey,
      root: chosen?.root.name,
      isRootLost: this.#hasChosenRoot && chosen === undefined,
      isReady: this.#isReady,
      publisher,
      process: this.#processOf(serverKey),
      progress: this.#progress(),
      notifications,
      view: this.#viewState(serverKey, asOfNs),
      highlighted: this.#view?.highlighted,
      queue: { busyIdleRatio: this.#queue.busyIdleRatio, waits: this.#queue.waits },
    };
  }

  /** Reads the count from the pool, since a change of only the count does not update the target. */
  #countNotifications(): Notifications | undefined {
    if (this.#choice?.kind !== 'chosen') return undefined;
    if (FORMATS.get(this.#definition.format)?.notifies !== true) return undefined;
    const { serverKey, source } = this.#choice;
    return { generation: source.generation, count: this.#pool.lastPolled(serverKey).notifications };
  }

  /** The process of the publisher; undefined while no root is chosen and several keys may have publishers. */
  #processOf(serverKey: string): TargetState['process'] {
    const isOnly = this.#choice?.kind === 'chosen' || this.#definition.serverKeys.length === 1;
    return isOnly ? this.#pool.lastPolled(serverKey).process : undefined;
  }

  #progress(): SyncProgress {
    if (this.#choice?.kind === 'none') return { ...NO_PROGRESS, reason: this.#choice.reason };
    // A ready target stays ready while new objects are synced, so it has no reason to wait.
    if (this.#isReady && this.#view !== undefined) {
      const { objects, variables } = this.#view.counts;
      return { objects, variables, reason: '' };
    }
    const progress = this.#view?.progress ?? {
      ...NO_PROGRESS,
      reason: 'the first poll of its segments',
    };
    // All known nodes are synced, but the directory may have more.
    return progress.reason === ''
      ? { ...progress, reason: 'the rest of its objects, which are being read' }
      : progress;
  }

  #viewState(serverKey: string, asOfNs: bigint | undefined): TargetState['view'] {
    if (this.#view === undefined) return undefined;
    const { series, largestFamilies, missing, coverage, filtersUnmatched, context } = this.#view;
    const { drops } = this.#pool.lastPolled(serverKey);
    const { rowsWithoutVariable, variablesWithoutRow, rowsOfWrongType } = coverage;
    return {
      ...{ series, largestFamilies, asOfNs, drops, missing, filtersUnmatched },
      ...{ rowsWithoutVariable, variablesWithoutRow, rowsOfWrongType },
      renamedLabels: context.targetLabels.renamed,
    };
  }

  #log(level: TargetEvent['level'], message: string): void {
    if (this.#events.length < MAX_WAITING_EVENTS) this.#events.push({ level, message });
  }

  #flush(): readonly Report[] {
    const events = this.#events;
    this.#events = [];
    return events.map((event) => ({ kind: 'event', event }));
  }
}
