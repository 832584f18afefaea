// Partitions, which host targets (spec 1.10), and the partition that runs its targets in the current thread.
import {
  BehaviorSubject,
  asyncScheduler,
  defer,
  filter,
  map,
  merge,
  mergeMap,
  repeat,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { SLICE_MS } from '../../budget.js';
import type { BudgetLimits } from '../../budget.js';
import type { CatalogueCache } from '../../catalogue/builtin.js';
import { compileFilters, compilePathLabels } from '../../catalogue/match/filters.js';
import { TargetLabels } from '../../exposition/rows/labels.js';
import { Kernel } from '../../exposition/wasm/kernel.js';
import { queryTree } from '../../exposition/query/tree-query.js';
import { limitsOf } from '../../exposition/target-limits.js';
import type { TargetLimits } from '../../exposition/target-limits.js';
import { BIND_STEPS, TargetView } from '../../exposition/target-view.js';
import type { FoundRoot, Refresh, TreeAnswer, TreeQuery } from '../../model.js';
import { hostingPipeline } from '../../pipeline.js';
import type { HostingUpdate } from '../../pipeline.js';
import type { ChosenRoot } from '../../streams/choose-root.js';
import { untilNext } from '../../streams/poller-pool.js';
import { TaskQueue } from '../../streams/scheduler.js';
import type { Scheduler } from '../../streams/scheduler.js';
import type { PollerPools } from '../../streams/poller-pool.js';
import type { Report } from '../../streams/report.js';
import { targetLabelsOf } from '../formats.js';
import type { TargetDefinition } from '../formats.js';
import { queryLastTree } from './last-tree.js';
import { Reporter } from './reporter.js';

/** A target in a partition. */
export interface HostedTarget {
  /** Runs the target while this Observable has a subscriber; errors when the partition fails as a whole. */
  readonly report$: Observable<Report>;
  /**
   * Starts a refresh, which the next report `refreshed` answers; returns false if the target does not run. At most one
   * refresh is open at a time.
   */
  refresh(refresh: Refresh): boolean;
  /** Emits one answer from its tree, while the target runs. Errors if the partition fails before the answer. */
  queryTree(query: TreeQuery): Observable<TreeAnswer>;
}

export interface Partition {
  readonly number: number;
  /** @param formerRoot the root that the target had before, which it chooses again if it exists */
  host(definition: TargetDefinition, formerRoot?: FoundRoot): HostedTarget;
  /** Releases its memory or thread; its targets must have ended before. */
  close(): void;
}

/** The parts that all partitions of a thread share. */
export interface PartitionParts {
  readonly pools: PollerPools;
  readonly catalogues: CatalogueCache;
  readonly tasks: Scheduler;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
  /** Returns the limits of one step of binding; by default `BIND_LIMITS`. */
  readonly bindLimits?: (() => BudgetLimits) | undefined;
}

/**
 * The limits of one step in which a view binds additions and removals. Before V8 has compiled the code, a node may take
 * 0.3 ms.
 */
const BIND_LIMITS: BudgetLimits = {
  steps: BIND_STEPS,
  ms: SLICE_MS,
  leastSteps: BIND_STEPS / 128,
  stepsPerClockRead: 16,
};
/** The period of state reports without a demand. */
const STATE_EVERY_MS = 1000;
/** A target without changes reports in every fourth period, to update the load of the queue and reset the watchdog. */
const IDLE_PERIODS = 4;

/** A partition with its own queue and memory, in the thread that made it. */
export class LogicalPartition implements Partition {
  readonly number: number;
  readonly #parts: PartitionParts;
  readonly #queue: TaskQueue;
  readonly #makeKernel: () => Kernel;
  #kernel: Kernel | undefined;

  constructor(
    number: number,
    parts: PartitionParts,
    queue = new TaskQueue(parts.tasks, parts.nowMs),
    makeKernel = (): Kernel => new Kernel(),
  ) {
    this.number = number;
    this.#parts = parts;
    this.#queue = queue;
    this.#makeKernel = makeKernel;
  }

  host(definition: TargetDefinition, formerRoot?: FoundRoot): HostedTarget {
    const { tasks, nowMs, scheduler = asyncScheduler } = this.#parts;
    const pool = this.#parts.pools(definition.format, definition.formatSettings);
    const openRefresh$ = new BehaviorSubject<Refresh | undefined>(undefined);
    const reporter = new Reporter(definition, pool, this.#queue, nowMs);
    let view: TargetView | undefined;
    let lastRoot = formerRoot;
    /** The reports on an update. Then answers the open refresh, if the update is its result. */
    function* reportsOn(update: HostingUpdate): Generator<Report> {
      if (update.kind === 'root') {
        const { choice } = update;
        ({ view } = update);
        if (choice.kind === 'chosen')
          lastRoot = { serverKey: choice.serverKey, id: choice.root.name };
      }
      yield* reporter.reportsOn(update);
      const open = openRefresh$.value;
      if (open === undefined || update.kind === 'root' || update.input !== open) return;
      openRefresh$.next(undefined); // the receiver of the report may start the next refresh
      yield reporter.refreshed(update);
    }
    const report$ = defer(() => {
      const makeView = this.#viewMaker(definition, reporter);
      const hosted$ = hostingPipeline({
        ...{ definition, formerRoot, pool, tasks, queue: this.#queue },
        ...{ openRefresh$, makeView, scheduler },
        onTaskEnd: (times) => {
          reporter.tasks.push(times);
        },
      });
      return merge(
        hosted$.pipe(mergeMap(reportsOn)),
        // All targets report at the same moments, usually at polls, so that the process wakes up rarely.
        defer(() => timer(untilNext(STATE_EVERY_MS, nowMs()), scheduler)).pipe(
          repeat(),
          filter((_, period) => reporter.hasChanged || period % IDLE_PERIODS === 0),
          map(() => reporter.state()),
        ),
      );
    });
    return {
      report$,
      refresh: (refresh) => {
        if (openRefresh$.value !== undefined) throw new Error('The last refresh has no answer yet');
        openRefresh$.next(refresh);
        return true;
      },
      queryTree: (query) =>
        defer(() => {
          const present = view;
          if (present !== undefined) return tasks.run(() => queryTree(present, query));
          const parts = {
            ...{ definition, pool, tasks, formerRoot: lastRoot },
            settings: () => this.#treeSettings(definition),
            reason: () => reporter.reason,
          };
          return queryLastTree(parts, query);
        }),
    };
  }

  close(): void {
    this.#kernel = undefined;
  }

  #treeSettings(definition: TargetDefinition) {
    const { app, showUncatalogued, catalogue: text } = definition;
    const catalogue = text && this.#parts.catalogues.get(text);
    return { app, catalogue, showUncatalogued, filters: compileFilters(catalogue, definition) };
  }

  /**
   * @throws Fault NATIVE_FAILED if there is no memory for the WebAssembly kernel; only the targets of this partition
   *   fail
   */
  #viewMaker(definition: TargetDefinition, reporter: Reporter): (chosen: ChosenRoot) => TargetView {
    const { variable } = definition;
    const pathLabels = compilePathLabels(definition.pathLabels);
    const { bindLimits = () => BIND_LIMITS } = this.#parts;
    const parts = {
      ...this.#treeSettings(definition),
      ...{ variable, pathLabels },
      limits: limitsOf(definition),
      kernel: (this.#kernel ??= this.#makeKernel()),
      timeZone: definition.publisherTimeZone,
      counters: reporter.counters,
      onClash: (series: string, why: string) => {
        reporter.clash(series, why);
      },
      onOmitted: (limit: keyof TargetLimits, omitted: string) => {
        reporter.omitted(limit, omitted);
      },
      bindLimits,
    };
    return ({ source, root, serverKey }) => {
      const labels = targetLabelsOf(definition, { serverKey, id: root.name });
      return new TargetView({ ...parts, source, root, targetLabels: new TargetLabels(labels) });
    };
  }
}
