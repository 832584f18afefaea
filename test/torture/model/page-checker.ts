// Compares the answers to demands with the model.
import type { DemandAnswer, ReadyAnswer } from '#app/model.js';
import type { ServedTarget } from '#app/targets/served-target.js';
import { isWhole, seriesOfTree } from './page-model.js';
import type { ModelTree, PageModel, PageSeries, Stamp } from './page-model.js';
import { linesOf } from '../../support/snapshot-of.js';
import { seriesOfPage, statesOfPage } from './page-text.js';
import type { LoggedRefresh, RefreshLog } from './refresh-log.js';

/** The properties of a simulation that affect what its pages may show. */
export interface CheckedRun {
  /** Whether trees change while they are copied. If so, a page may mix several moments. */
  readonly hasConcurrentChanges: boolean;
  /** Whether pages have the series of a catalogue. Of those series, the model knows only the states. */
  readonly hasCatalogue: boolean;
}

/** A demand that has no answer yet. */
export interface OpenDemand {
  readonly target: ServedTarget;
  readonly tag: string;
  readonly at: Stamp;
  /**
   * Returns the largest minimum render interval that the target has had, even if it was set after the demand.
   */
  readonly renderMinIntervalMs: () => number;
}

export class PageChecker {
  pages = 0;
  values = 0;
  readonly #model: PageModel;
  readonly #log: RefreshLog;
  readonly #fail: (what: string) => void;
  readonly #run: CheckedRun;
  /** The last moment at which each target was ready. */
  readonly #ready = new Map<string, Stamp>();

  constructor(model: PageModel, log: RefreshLog, run: CheckedRun, fail: (what: string) => void) {
    this.#model = model;
    this.#log = log;
    this.#run = run;
    this.#fail = fail;
  }

  /** Forgets that the target was ready, because it is new or the generator has made it unready. */
  forget(tag: string): void {
    this.#ready.delete(tag);
  }

  checkAnswer(demand: OpenDemand, answer: DemandAnswer): void {
    if (answer.kind === 'ready') this.#checkPage(demand, answer);
    else this.#checkUnready(demand, answer.status.progress.reason);
  }

  /** Checks the answer to a demand that was made in a quiet period. */
  checkSettled(demand: OpenDemand, answer: DemandAnswer | undefined): void {
    const { tag, target } = demand;
    if (answer === undefined) this.#fail(`${tag}: a demand without an answer`);
    const trees = this.#trees(target);
    if (trees.length === 0 || !trees.every(isWhole) || answer?.kind === 'ready') return;
    this.#fail(
      `${tag}: it is not ready with a complete tree, and waits for ${answer?.status.progress.reason}`,
    );
  }

  #trees({ serverKeys }: ServedTarget): ModelTree[] {
    return serverKeys.map((key) => this.#model.now(key)).filter((tree) => tree !== undefined);
  }

  #checkUnready({ tag, target }: OpenDemand, reason: string): void {
    const ready = this.#ready.get(tag);
    if (ready === undefined) return;
    if (target.serverKeys.some((key) => this.#model.wasLost(key, ready))) this.forget(tag);
    else this.#fail(`${tag}: it is no longer ready and waits without a reason for ${reason}`);
  }

  #checkPage(demand: OpenDemand, page: ReadyAnswer): void {
    const { tag, at, renderMinIntervalMs } = demand;
    this.#ready.set(tag, this.#model.stamp());
    const reported = this.#log.reported(tag);
    const answer = reported.at(-1);
    if (answer === undefined || answer.sent.order < at.order) {
      this.#fail(`${tag}: a demand has an answer from an earlier refresh`);
      return;
    }
    this.pages++;
    this.values += linesOf(page.snapshot).split('\n').length - 1;
    const shown = this.#read(tag, page);
    if (shown === undefined) return;
    const made = answer.mayRender ? answer : reported.findLast((each) => each.hasRendered);
    if (
      made?.reported === undefined ||
      (!answer.mayRender && made.reported.atMs < at.atMs - renderMinIntervalMs())
    )
      this.#fail(`${tag}: a page from before the minimum interval`);
    else this.#compare(tag, shown, made, made.reported);
  }

  #read(tag: string, page: ReadyAnswer): PageSeries | undefined {
    try {
      return this.#run.hasCatalogue ? statesOfPage(page) : seriesOfPage(page);
    } catch (error) {
      this.#fail(`${tag}: ${String(error)}`);
      return undefined;
    }
  }

  /**
   * Checks that the page shows one moment of its refresh. With concurrent changes, different series may
   * show different moments.
   */
  #compare(
    tag: string,
    page: PageSeries,
    { definition, sent }: LoggedRefresh,
    reported: Stamp,
  ): void {
    const faults = definition.serverKeys.map((key) => {
      const trees = this.#model.during(key, sent, reported);
      const rooted = trees.filter((tree) => tree !== undefined);
      const moments = rooted.map((tree) =>
        seriesOfTree(tree, definition.seedPaths, this.#run.hasCatalogue),
      );
      if (!this.#run.hasConcurrentChanges) return snapshotFaults(page, moments);
      // If the root is removed during a copy, its series may be missing.
      if (rooted.length > 0 && rooted.length < trees.length) moments.push(new Map());
      return mixedFaults(page, moments, (name, value) =>
        FRAMED.test(name)
          ? this.#model.everHad(key, name, value)
          : this.#model.formerValue(key, name, sent) === value,
      );
    });
    if (faults.every((each) => each.length > 0))
      this.#fail(
        `${tag} [${definition.seedPaths.join()}]: ${faults.map((each) => each.slice(0, 3).join(', ')).join(' / ')}`,
      );
  }
}

/** Series of texts and histograms. */
const FRAMED = /^demo_\w+_(t_info|h) /;

/** Returns nothing if the page equals one of the moments, otherwise its differences from the last one. */
function snapshotFaults(page: PageSeries, moments: readonly PageSeries[]): string[] {
  const faults = moments.map((moment) => mixedFaults(page, [moment]));
  if (faults.some(({ length }) => length === 0)) return [];
  return faults.at(-1) ?? ['a page without a root'];
}

/**
 * Returns the faults of a page: series with a value that they had at none of these moments, and missing
 * series that were present at all of them. A series that changed between these moments may also show an
 * earlier value, for two reasons. A text or histogram that cannot be copied consistently keeps its last
 * value. A series that was unset and set again has the same word as before.
 * @param wasFormer whether this is an earlier value that the series may show
 */
function mixedFaults(
  page: PageSeries,
  moments: readonly PageSeries[],
  wasFormer: (name: string, value: string) => boolean = () => false,
): string[] {
  const [first] = moments;
  if (first === undefined) return ['a page without a root'];
  const faults: string[] = [];
  for (const [name, value] of page) {
    const known = new Set(moments.map((moment) => moment.get(name)));
    if (known.has(value) || (known.size > 1 && wasFormer(name, value))) continue;
    const expected = [...known].map((each) => each ?? 'missing').join(' or ');
    faults.push(`${name} is ${value}, not ${expected}`);
  }
  for (const name of first.keys())
    if (!page.has(name) && moments.every((moment) => moment.has(name)))
      faults.push(`${name} is missing`);
  return faults;
}
