// Runs a target in its partition: carries out refreshes, and reports.
import {
  BehaviorSubject,
  asyncScheduler,
  defer,
  filter,
  map,
  merge,
  mergeMap,
  of,
  repeat,
  timer,
} from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { Budget, SLICE_MS } from '../../budget.js';
import type { BudgetLimits } from '../../budget.js';
import { catalogueOf } from '../../catalogue/builtin.js';
import type { Catalogue, CatalogueText } from '../../catalogue/catalogue.js';
import { compileFilters, compilePathLabels } from '../../catalogue/match/filters.js';
import type { Kernel } from '../../exposition/wasm/kernel.js';
import type { OnClash } from '../../exposition/rows/series-register.js';
import type { OnOmitted } from '../../exposition/target-limits.js';
import { TargetView } from '../../exposition/target-view.js';
import { VIEW_STEPS } from '../../exposition/tree-work.js';
import type { TreeAnswer } from '../../model.js';
import { hostingPipeline } from '../../pipeline.js';
import type { Step } from '../../pipeline.js';
import type { ChosenRoot, FormerRoot } from '../../streams/choose-root.js';
import { untilNext } from '../../streams/poll.js';
import type { RefreshQueue } from '../../streams/refresh-queue.js';
import type { Refresh } from '../../streams/report.js';
import type { Scheduler } from '../../streams/scheduler.js';
import type { ServerPools } from '../../streams/server-pool.js';
import type { TargetDefinition } from '../formats.js';
import type { HostedTarget } from './partition.js';
import { Reporter } from './reporter.js';

/** Texts that are kept parsed; reloads of changed files push the oldest out. */
const MAX_KEPT = 64;

export class CatalogueShelf {
  readonly #parsed = new Map<string, Catalogue>();

  /** @throws Fault CONFIG_INVALID for a text that was not checked before */
  get(source: CatalogueText): Catalogue {
    const { text } = source;
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    const catalogue = catalogueOf(source);
    this.#parsed.set(text, catalogue);
    const [oldest] = this.#parsed.keys();
    if (this.#parsed.size > MAX_KEPT && oldest !== undefined) this.#parsed.delete(oldest);
    return catalogue;
  }
}

/** What the thread and the partition that run a target share among their targets. */
export interface Workplace {
  readonly pools: ServerPools;
  readonly shelf: CatalogueShelf;
  readonly tasks: Scheduler;
  readonly queue: RefreshQueue;
  /** @throws Fault NATIVE_FAILED when there is no memory for it */
  readonly kernel: () => Kernel;
  /** Milliseconds of a clock that does not step. */
  readonly nowMs: () => number;
  readonly scheduler?: SchedulerLike | undefined;
  /** Makes the budget of one slice of binding; by default one by the clock of the process. */
  readonly budget?: ((limits: BudgetLimits) => Budget) | undefined;
}

/** What a view may do at once of what came and went, and some of it in any case. */
const BIND = {
  steps: VIEW_STEPS,
  ms: SLICE_MS,
  leastSteps: VIEW_STEPS / 32,
  stepsPerClockRead: 16,
};
/** Facts are reported this often without a demand, so that none of them goes stale. */
const FACTS_EVERY_MS = 1000;
/** While nothing happens, only each fourth time: for how busy the queue is, and as a sign of life. */
const QUIET_PERIODS = 4;

export function hostTarget(
  definition: TargetDefinition,
  place: Workplace,
  former: FormerRoot | undefined,
): HostedTarget {
  const { app, instance, serverKeys, variable, catalogue: text } = definition;
  const { tasks, queue, scheduler = asyncScheduler, budget = newBudget } = place;
  const pool = place.pools(definition.format, definition.formatSettings);
  const open$ = new BehaviorSubject<Refresh | undefined>(undefined);
  const reporter = new Reporter(definition, { pool, queue });
  let view: TargetView | undefined;
  const report$ = defer(() => {
    const catalogue = text && place.shelf.get(text);
    const filters = compileFilters(catalogue, definition);
    const pathLabels = compilePathLabels(definition.pathLabels);
    const onClash: OnClash = (series, why) => {
      reporter.clash(series, why);
    };
    const timeZone = definition.publisherTimeZone;
    const kernel = place.kernel();
    const slice = () => budget(BIND);
    const { limits, showsUncatalogued } = definition;
    const onOmitted: OnOmitted = (limit, omitted) => {
      reporter.omitted(limit, omitted);
    };
    const what = {
      app,
      kernel,
      catalogue,
      variable,
      timeZone,
      filters,
      showsUncatalogued,
      pathLabels,
      limits,
    };
    const { counters } = reporter;
    const parts = { ...what, counters, onClash, onOmitted, slice };
    const step$ = hostingPipeline({
      ...{ app, hint: instance, former, serverKeys, pool, tasks, queue, open$, scheduler },
      isEager: definition.spacingMs === 0 || definition.isDebug,
      look: () => {
        for (const key of serverKeys) pool.look(key);
        reporter.lookedUp();
      },
      makeView: ({ source, root }: ChosenRoot) => new TargetView({ ...parts, source, root }),
      refreshed: (tookMs) => {
        reporter.refreshed(tookMs);
      },
    });
    return merge(
      step$.pipe(
        mergeMap((step) => {
          // Closed before the report, which may bring the next refresh.
          if (isAnswer(step)) open$.next(undefined);
          if (step.kind === 'root') ({ view } = step);
          return reporter.take(step);
        }),
      ),
      // Of all targets at once, and mostly when their segments are looked at.
      defer(() => timer(untilNext(FACTS_EVERY_MS, place.nowMs()), scheduler)).pipe(
        repeat(),
        filter((_, period) => reporter.hasNews || period % QUIET_PERIODS === 0),
        map(() => reporter.facts()),
      ),
    );
  });
  return {
    report$,
    send: (refresh) => {
      open$.next(refresh);
    },
    queryTree: (query) =>
      defer(() => {
        const present = view;
        if (present === undefined) return of(withoutTree(reporter.reason));
        return tasks.run(() => present.queryTree(query));
      }),
  };
}

const newBudget = (limits: BudgetLimits): Budget => new Budget(limits);

const withoutTree = (reason: string): TreeAnswer => ({ kind: 'no-tree', reason });

/** Whether a step is the end of the open refresh. */
const isAnswer = (step: Step): boolean =>
  step.kind === 'rootless' || (step.kind === 'refreshed' && step.input.kind === 'refresh');
