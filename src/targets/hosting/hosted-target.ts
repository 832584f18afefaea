// A target at work in its partition: its pipeline, and what is known of it.
import { Subject, defer, ignoreElements, merge, tap } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { compileFilters } from '../../catalogue/match/filters.js';
import { messageOf } from '../../errors.js';
import type { HighlightedValue } from '../../exposition/read/highlight.js';
import type { Kernel } from '../../exposition/kernel/kernel.js';
import { numberText } from '../../exposition/text/number-text.js';
import { SampleWindow } from '../../exposition/sample-window.js';
import { NOTHING_COUNTED, sumOf } from '../target-facts.js';
import type { Counted, Standing, TargetFacts, ViewFacts } from '../target-facts.js';
import { TargetView } from '../../exposition/target-view.js';
import type { PublisherState, SyncProgress, TargetEvent } from '../../model.js';
import { targetPipeline } from '../../pipeline.js';
import type { PipelineObserver } from '../../pipeline.js';
import { NOTHING_HANDED_OVER, unanswered } from '../../streams/answer.js';
import type { ChosenRoot, RootChoice } from '../../streams/choose-root.js';
import type { Order } from '../../streams/order.js';
import type { RefreshQueue } from '../../streams/refresh-queue.js';
import type { Sighting } from '../../streams/watch.js';
import type { ServerPool } from '../../streams/server-pool.js';
import type { CatalogueShelf } from './catalogue-shelf.js';
import type { TargetDefinition } from '../definition.js';
import type { HostOptions, Hosted, Report } from './partition.js';

/** What the thread and the partition that run a target share among their targets. */
export interface Workplace {
  readonly pool: ServerPool;
  readonly shelf: CatalogueShelf;
  readonly queue: RefreshQueue;
  /** @throws Fault NATIVE_FAILED when there is no memory for it */
  readonly kernel: () => Kernel;
  /** Milliseconds of a clock that does not step. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
}

const NO_PROGRESS: Omit<SyncProgress, 'reason'> = {
  objects: { synced: 0, total: 0 },
  variables: { synced: 0, total: 0 },
};
/** Clashing series that are told of by name. */
const MOST_CLASHES_TOLD = 100;

export class HostedTarget implements Hosted, PipelineObserver {
  readonly report$;
  readonly #definition: TargetDefinition;
  readonly #place: Workplace;
  readonly #told$ = new Subject<Report>();
  readonly #refreshes = new SampleWindow();
  readonly #clashes = new Set<string>();
  /** Demands without an answer yet. */
  readonly #asked = new Set<number>();
  /** Whether it was told to leave and has not handed over yet. */
  #isLeaving = false;
  #choice: RootChoice | undefined;
  #view: TargetView | undefined;
  /** What views counted whose roots are gone. */
  #before = NOTHING_COUNTED;
  #isReady = false;
  #publisherState: PublisherState | undefined;
  #highlighted: HighlightedValue | undefined;

  constructor(definition: TargetDefinition, place: Workplace, options: HostOptions) {
    this.#definition = definition;
    this.#place = place;
    const { app, instance, serverKeys, variable, catalogue: text, spacingMs } = definition;
    const timeZone = definition.publisherTimeZone;
    const { order$, isHeir, former } = options;
    this.report$ = defer(() => {
      const heard$ = new Subject<Order>();
      const catalogue = text && place.shelf.get(text);
      const kernel = place.kernel();
      const parts = { app, kernel, catalogue, variable, timeZone, onClash: this.#onClash };
      const filters = compileFilters(catalogue, definition);
      const answer$ = targetPipeline({
        app,
        hint: instance,
        former,
        serverKeys,
        spacingMs,
        order$: heard$,
        isHeir,
        pool: place.pool,
        queue: place.queue,
        nowMs: place.nowMs,
        scheduler: place.scheduler,
        makeView: ({ source, root }: ChosenRoot) =>
          new TargetView({ ...parts, filters, source, root }),
        observer: this,
      });
      const hear$ = order$.pipe(
        tap((order) => {
          if (order.kind === 'demand') this.#look(order.id);
          if (order.kind === 'leave') this.#isLeaving = true;
          heard$.next(order);
        }),
        ignoreElements(),
      );
      const report$ = merge(answer$, hear$).pipe(
        tap((report) => {
          if (report.kind === 'handed-over') this.#isLeaving = false;
          else if (report.id !== undefined) this.#asked.delete(report.id);
        }),
      );
      return merge(this.#told$, report$);
    });
  }

  standing(): Standing {
    const { pool } = this.#place;
    const chosen = this.#choice?.kind === 'chosen' ? this.#choice : undefined;
    const serverKey = chosen?.serverKey ?? this.#definition.serverKeys[0] ?? '';
    return {
      serverKey,
      root: chosen?.root.name ?? '',
      isReady: this.#isReady,
      publisher: this.#choice?.kind === 'none' ? this.#choice.publisher : pool.publisher(serverKey),
    };
  }

  facts(): TargetFacts {
    const { queue } = this.#place;
    return {
      ...this.standing(),
      progress: this.#progress(),
      view: this.#viewFacts(),
      highlighted: this.#view?.highlighted,
      counted: this.#counted(),
      refreshes: this.#refreshes.durations,
      queue: { busyIdleRatio: queue.busyIdleRatio, waits: queue.waits },
    };
  }

  chosen(choice: RootChoice): void {
    this.#choice = choice;
    if (choice.kind === 'none') {
      this.#say('info', `waiting on ${choice.reason}`);
    } else {
      const { root, serverKey, others } = choice;
      this.#say('info', `takes root ${root.name} of server key ${serverKey}`);
      if (others.length > 0) this.#say('warning', `roots not taken: ${others.join(', ')}`);
    }
    this.#turned();
  }

  viewed(view: TargetView | undefined): void {
    this.#before = sumOf(this.#before, countedBy(this.#view));
    this.#view = view;
    this.#publisherState = undefined;
    if (view !== undefined) return;
    this.#isReady = false;
    this.#turned();
    // Whoever still waits for its turn, to be answered or to leave, learns that the root is gone.
    for (const id of [...this.#asked]) this.#told$.next(unanswered(id));
    this.#asked.clear();
    if (!this.#isLeaving) return;
    this.#isLeaving = false;
    this.#told$.next(NOTHING_HANDED_OVER);
  }

  ready(isReady: boolean): void {
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    const { objects, variables } = this.#progress();
    this.#say('info', `ready: ${objects.total} objects, ${variables.total} variables`);
    this.#turned();
  }

  seen({ publisher, tick, changes }: Sighting): void {
    if (this.#definition.isDebug)
      this.#say('debug', `update: tick ${tick}, ${changes.length} changes in the directory`);
    if (publisher.state === this.#publisherState) return;
    if (this.#publisherState !== undefined || publisher.state !== 'live')
      this.#say(publisher.state === 'live' ? 'info' : 'warning', publisher.reason);
    this.#publisherState = publisher.state;
    this.#turned();
  }

  failed(error: unknown): void {
    const reason = `a restart after a failure: ${messageOf(error)}`;
    const { publisher } = this.standing();
    this.chosen({ kind: 'none', reason, publisher });
  }

  readonly refreshed = (tookMs: number): void => {
    this.#refreshes.add(tookMs);
    this.#told$.next({ kind: 'refreshed' });
    if (!this.#definition.isDebug) return;
    this.#tellHighlighted();
    if (this.#isReady) return;
    const { objects, variables, reason } = this.#progress();
    const counts = `objects ${objects.synced}/${objects.total}, variables ${variables.synced}/${variables.total}`;
    this.#say('debug', `sync: ${counts}, waiting on ${reason}`);
  };

  #tellHighlighted(): void {
    const value = this.#view?.highlighted;
    if (value === this.#highlighted) return;
    this.#highlighted = value;
    const text = value && (value.text ?? numberText(value.value));
    this.#say('debug', `${this.#definition.variable} is ${text ?? 'without a value'}`);
  }

  /** A demand sees what its publisher shows now. */
  #look(id: number): void {
    for (const key of this.#definition.serverKeys) this.#place.pool.look(key);
    // Not before: a look that finds another root must not answer for the root before it.
    this.#asked.add(id);
    if (this.#definition.isDebug) this.#tellLookup();
  }

  #tellLookup(): void {
    const { pool } = this.#place;
    const found = this.#definition.serverKeys.map(
      (key) => `server key ${key} ${pool.publisher(key).state}`,
    );
    const root = this.#choice?.kind === 'chosen' ? `root ${this.#choice.root.name}` : 'no root';
    this.#say('debug', `lookup: ${found.join(', ')}; ${root}`);
  }

  readonly #onClash = (series: string): void => {
    if (this.#clashes.size >= MOST_CLASHES_TOLD || this.#clashes.has(series)) return;
    this.#clashes.add(series);
    this.#say('warning', `left out a second series ${series}`);
  };

  #progress(): SyncProgress {
    if (this.#choice?.kind === 'none') return { ...NO_PROGRESS, reason: this.#choice.reason };
    // Late objects are nobody's wait: what is missing need not be looked for.
    if (this.#isReady && this.#view !== undefined) return { ...this.#view.counts, reason: '' };
    const progress = this.#view?.progress ?? { ...NO_PROGRESS, reason: 'the first look' };
    // All that is known is synced, so what is not known yet is waited for.
    return progress.reason === '' ? { ...progress, reason: 'the directory to be read' } : progress;
  }

  #counted(): Counted {
    const { count, sum } = this.#refreshes;
    const ofViews = sumOf(this.#before, countedBy(this.#view));
    return { ...ofViews, refreshes: count, busyMs: sum };
  }

  #viewFacts(): ViewFacts | undefined {
    const view = this.#view;
    if (view === undefined || this.#choice?.kind !== 'chosen') return undefined;
    const drops = this.#place.pool.drops(this.#choice.serverKey);
    const { asOfNs, series, fit } = view;
    return {
      series,
      asOfNs,
      droppedObjects: drops.objects,
      droppedVariables: drops.variables,
      rowsWithoutVariable: fit.rowsWithoutVariable,
      variablesWithoutRow: fit.variablesWithoutRow,
      rowsOfWrongType: fit.rowsOfWrongType,
    };
  }

  #turned(): void {
    this.#told$.next({ kind: 'turned' });
  }

  #say(level: TargetEvent['level'], message: string): void {
    this.#told$.next({ kind: 'event', event: { level, message } });
  }
}

function countedBy(view: TargetView | undefined): Counted {
  if (view === undefined) return NOTHING_COUNTED;
  const { clashes, omitted, staleFrames } = view;
  return { ...NOTHING_COUNTED, clashes, omitted, staleFrames };
}
