// What is known of a target in its partition, and the reports that are made of it.
import { counted } from '../../counted.js';
import { diffOf, newCounters } from '../../exposition/counters.js';
import type { Counts } from '../../exposition/counters.js';
import type { HighlightedValue } from '../../exposition/read/highlight.js';
import { limitText } from '../../exposition/target-limits.js';
import type { TargetLimits } from '../../exposition/target-limits.js';
import type { TargetView } from '../../exposition/target-view.js';
import { numberText } from '../../exposition/text/labels.js';
import type { PublisherState, SyncProgress, TargetEvent } from '../../model.js';
import type { Step } from '../../pipeline.js';
import { shortened } from '../../streams/choose-root.js';
import type { RootChoice } from '../../streams/choose-root.js';
import type { RefreshQueue } from '../../streams/refresh-queue.js';
import type { RefreshReport, Report, TargetFacts } from '../../streams/report.js';
import type { ServerPool } from '../../streams/server-pool.js';
import type { Refreshed } from '../../streams/view-refresher.js';
import type { PollResult } from '../../streams/watch.js';
import type { TargetDefinition } from '../formats.js';

const NO_PROGRESS: Omit<SyncProgress, 'reason'> = {
  objects: { synced: 0, total: 0 },
  variables: { synced: 0, total: 0 },
};
/** Clashing series that are reported by name. */
const MAX_NAMED_CLASHES = 100;
/** Most warnings of the format of a target that are logged. */
const MAX_WARNINGS = 16;
/** Events that wait for the next step. */
const MAX_WAITING_EVENTS = 1000;

export interface ReporterParts {
  readonly pool: ServerPool;
  readonly queue: RefreshQueue;
}

export class Reporter {
  /** The counters that the target's views add to. */
  readonly counters = newCounters();
  readonly #definition: TargetDefinition;
  readonly #pool: ServerPool;
  readonly #queue: RefreshQueue;
  #refreshesMs: number[] = [];
  #reported: Counts = newCounters();
  readonly #clashes = new Set<string>();
  readonly #exceeded = new Set<keyof TargetLimits>();
  readonly #warnings = new Set<string>();
  #events: TargetEvent[] = [];
  #choice: RootChoice | undefined;
  #view: TargetView | undefined;
  #isReady = false;
  #publisherState: PublisherState | undefined;
  #highlighted: HighlightedValue | undefined;
  #tick: number | undefined;
  /** Whether anything happened since the last facts. */
  #hasNews = true;

  constructor(definition: TargetDefinition, { pool, queue }: ReporterParts) {
    this.#definition = definition;
    this.#pool = pool;
    this.#queue = queue;
  }

  /** Whether facts now may differ from the last, by more than how busy the queue is. */
  get hasNews(): boolean {
    return this.#hasNews || !this.#isReady || this.#publisherState !== 'live';
  }

  /** What the target waits for. */
  get reason(): string {
    return this.#progress().reason;
  }

  /** The reports that a step makes; the answer to a refresh comes last. */
  take(step: Step): readonly Report[] {
    this.#hasNews = true;
    switch (step.kind) {
      case 'root':
        return [...this.#root(step), this.facts()];
      case 'rootless':
        return [...this.#flush(), this.#refreshed(false, false, undefined)];
      case 'refreshed': {
        const isNews = this.#noteRefresh(step);
        return [...this.#flush(), ...(isNews ? [this.facts()] : []), ...this.#answer(step)];
      }
    }
  }

  /** What is known now, and what was counted since the last report. */
  facts(): Report {
    return { kind: 'facts', facts: this.#facts(), ...this.#counted() };
  }

  /** A refresh is over. */
  refreshed(tookMs: number): void {
    this.#refreshesMs.push(tookMs);
  }

  /** Notes that a series was left out because of another; logs the first with each name and labels. */
  clash(series: string, why: string): void {
    if (this.#clashes.size >= MAX_NAMED_CLASHES || this.#clashes.has(series)) return;
    this.#clashes.add(series);
    this.#say('warning', `left out series ${series}: ${why}`);
  }

  /** A limit left something out; the first of each limit is named. */
  omitted(limit: keyof TargetLimits, what: string): void {
    if (this.#exceeded.has(limit)) return;
    this.#exceeded.add(limit);
    const why = limitText(this.#definition.limits, limit);
    this.#say('warning', `left out ${what}: ${why}; further ones are counted`);
  }

  /** The server keys were looked at for a refresh. */
  lookedUp(): void {
    if (!this.#definition.isDebug) return;
    const found = this.#definition.serverKeys.map(
      (key) => `server key ${key} ${this.#pool.publisher(key).state}`,
    );
    const root = this.#choice?.kind === 'chosen' ? `root ${this.#choice.root.name}` : 'no root';
    this.#say('debug', `lookup: ${found.join(', ')}; ${root}`);
  }

  #root({ choice, view }: Extract<Step, { readonly kind: 'root' }>): readonly Report[] {
    const isLoss = this.#choice?.kind === 'chosen' && choice.kind === 'none';
    this.#choice = choice;
    this.#view = view;
    this.#isReady = false;
    this.#publisherState = this.#tick = undefined;
    if (choice.kind === 'none') {
      this.#say(isLoss ? 'warning' : 'info', `waiting on ${choice.reason}`);
    } else {
      const { root, serverKey, others } = choice;
      this.#say('info', `takes root ${root.name} of server key ${serverKey}`);
      if (others.length > 0) this.#say('warning', `roots not taken: ${shortened(others)}`);
    }
    return this.#flush();
  }

  /** Notes what a refresh showed; true when readiness or the publisher changed. */
  #noteRefresh({ input, isReady, tick }: Refreshed): boolean {
    this.#tick = tick;
    const isPublisherNew = input.kind === 'change' && this.#notePublisher(input.pollResult);
    const isReadyNew = isReady && !this.#isReady;
    this.#isReady = isReady;
    if (isReadyNew) {
      const { objects, variables } = this.#progress();
      this.#say(
        'info',
        `ready: ${counted(objects.total, 'object')}, ${counted(variables.total, 'variable')}`,
      );
    }
    if (this.#definition.isDebug) this.#sayProgress();
    return isPublisherNew || isReadyNew;
  }

  #answer(refresh: Refreshed): readonly Report[] {
    const { input, isReady, hasRendered, isDirty, snapshot } = refresh;
    if (input.kind === 'refresh')
      return [this.#refreshed(hasRendered, isDirty, isReady ? snapshot : undefined)];
    return isReady && this.#definition.spacingMs === 0 ? [{ kind: 'changed' }] : [];
  }

  #notePublisher({ publisher, tick, changes, warnings = [] }: PollResult): boolean {
    for (const warning of warnings) {
      if (this.#warnings.has(warning) || this.#warnings.size >= MAX_WARNINGS) continue;
      this.#warnings.add(warning);
      this.#say('warning', warning);
    }
    if (this.#definition.isDebug)
      this.#say('debug', `update: tick ${tick}, ${changes.length} changes in the directory`);
    const isNew = publisher.state !== this.#publisherState;
    if (isNew && (this.#publisherState !== undefined || publisher.state !== 'live'))
      this.#say(publisher.state === 'live' ? 'info' : 'warning', publisher.reason);
    this.#publisherState = publisher.state;
    return isNew;
  }

  #sayProgress(): void {
    this.#sayHighlighted();
    if (this.#isReady) return;
    const { objects, variables, reason } = this.#progress();
    const counts = `objects ${objects.synced}/${objects.total}, variables ${variables.synced}/${variables.total}`;
    this.#say('debug', `sync: ${counts}, waiting on ${reason}`);
  }

  #sayHighlighted(): void {
    const value = this.#view?.highlighted;
    if (value === this.#highlighted) return;
    this.#highlighted = value;
    const text = value && (value.text ?? numberText(value.value));
    this.#say('debug', `${this.#definition.variable} is ${text ?? 'without a value'}`);
  }

  #refreshed(
    hasRendered: boolean,
    isDirty: boolean,
    snapshot: RefreshReport['snapshot'],
  ): RefreshReport {
    const facts = this.#facts();
    return { kind: 'refreshed', facts, ...this.#counted(), hasRendered, isDirty, snapshot };
  }

  #counted(): Pick<RefreshReport, 'refreshesMs' | 'counts'> {
    const counts = diffOf(this.counters, this.#reported);
    const refreshesMs = this.#refreshesMs;
    this.#reported = { ...this.counters };
    this.#refreshesMs = [];
    return { refreshesMs, counts };
  }

  #facts(): TargetFacts {
    this.#hasNews = false;
    const { busyIdleRatio, waits } = this.#queue;
    const chosen = this.#choice?.kind === 'chosen' ? this.#choice : undefined;
    const serverKey = chosen?.serverKey ?? this.#definition.serverKeys[0] ?? '';
    const publisher =
      this.#choice?.kind === 'none' ? this.#choice.publisher : this.#pool.publisher(serverKey);
    return {
      serverKey,
      root: chosen?.root.name ?? '',
      isReady: this.#isReady,
      publisher,
      process: this.#processOf(serverKey),
      progress: this.#progress(),
      tick: this.#tick,
      view: this.#viewFacts(serverKey),
      highlighted: this.#view?.highlighted,
      queue: { busyIdleRatio, waits },
    };
  }

  /** Without a root, several keys may have a publisher. */
  #processOf(serverKey: string): TargetFacts['process'] {
    const isOnly = this.#choice?.kind === 'chosen' || this.#definition.serverKeys.length === 1;
    return isOnly ? this.#pool.process(serverKey) : undefined;
  }

  #progress(): SyncProgress {
    if (this.#choice?.kind === 'none') return { ...NO_PROGRESS, reason: this.#choice.reason };
    // Once ready, late objects block nothing, so the missing ones are not looked for.
    if (this.#isReady && this.#view !== undefined) {
      const { objects, variables } = this.#view.counts;
      return { objects, variables, reason: '' };
    }
    const progress = this.#view?.progress ?? {
      ...NO_PROGRESS,
      reason: 'the first look at its segments',
    };
    // All that is known is synced; there may be more in the directory.
    return progress.reason === ''
      ? { ...progress, reason: 'the rest of its objects, which are being read' }
      : progress;
  }

  #viewFacts(serverKey: string): TargetFacts['view'] {
    if (this.#view === undefined) return undefined;
    const { asOfNs, series, missing, fit } = this.#view;
    const { objects, variables } = this.#pool.drops(serverKey);
    return {
      series,
      asOfNs,
      droppedObjects: objects,
      droppedVariables: variables,
      missing,
      rowsWithoutVariable: fit.rowsWithoutVariable,
      variablesWithoutRow: fit.variablesWithoutRow,
      filtersUnmatched: this.#view.filtersUnmatched,
      rowsOfWrongType: fit.rowsOfWrongType,
    };
  }

  #say(level: TargetEvent['level'], message: string): void {
    if (this.#events.length < MAX_WAITING_EVENTS) this.#events.push({ level, message });
  }

  #flush(): readonly Report[] {
    const events = this.#events;
    this.#events = [];
    return events.map((event) => ({ kind: 'event', event }));
  }
}
