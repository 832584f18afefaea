// What publishers showed at each moment, in plain memory, and so what a page may show.

/** A variable: the series that shows it, and its value as a page writes it, if it has one. */
export interface ModelSeries {
  /** Of its object, below the root: path segments joined by dots; empty for the root. */
  readonly path: string;
  readonly name: string;
  readonly value: string | undefined;
}

/** The tree of a publisher between two changes. */
export interface ModelTree {
  /** Whether all its objects are synced. */
  readonly isSynced: boolean;
  readonly series: readonly ModelSeries[];
}

/** A moment of a course. */
export interface Stamp {
  /** Above those of all moments before it. */
  readonly order: number;
  readonly atMs: number;
}

/** From its stamp on until that of the next of the same server key. */
interface Showing extends Stamp {
  /** Undefined while there is no root. */
  readonly tree: ModelTree | undefined;
  /** Whether the tree before it ended without notice, so that it may be served for a while. */
  readonly isSilent: boolean;
}

/** Series by their names. */
export type Shown = ReadonlyMap<string, string>;

export class PageModel {
  readonly #nowMs: () => number;
  readonly #silentMs: number;
  readonly #showings = new Map<string, Showing[]>();
  /** All values that series ever had. */
  readonly #values = new Set<string>();
  #order = 0;

  /** @param silentMs how long a publisher is served that ended without notice */
  constructor(nowMs: () => number, silentMs: number) {
    this.#nowMs = nowMs;
    this.#silentMs = silentMs;
  }

  stamp(): Stamp {
    return { order: ++this.#order, atMs: this.#nowMs() };
  }

  /**
   * A publisher changed its tree; undefined when it is gone.
   * @param isSilent when readers get no notice of the end of the tree before
   */
  note(key: string, tree: ModelTree | undefined, isSilent = false): void {
    this.#of(key).push({ ...this.stamp(), tree, isSilent });
    for (const { name, value } of tree?.series ?? []) this.#values.add(`${key} ${name} ${value}`);
  }

  /** Whether a series ever had a value. */
  everHad(key: string, name: string, value: string): boolean {
    return this.#values.has(`${key} ${name} ${value}`);
  }

  /** The last value that a variable had when a moment came, though it may have been unset since. */
  formerValue(key: string, name: string, at: Stamp): string | undefined {
    for (const { order, tree } of [...this.#of(key)].reverse()) {
      if (order > at.order) continue;
      const series = tree?.series.find((each) => each.name === name);
      if (series === undefined || series.value !== undefined) return series?.value;
    }
    return undefined;
  }

  now(key: string): ModelTree | undefined {
    return this.#of(key).at(-1)?.tree;
  }

  /** Whether the root of a key may have been missed, or become another, since a moment. */
  wasLost(key: string, since: Stamp): boolean {
    return this.#of(key).some(
      ({ order, atMs, tree, isSilent }) =>
        (tree === undefined || isSilent) &&
        (order > since.order || atMs >= since.atMs - this.#silentMs),
    );
  }

  /**
   * The trees that a page of a key may show that was made between two moments; undefined for a time
   * without a root.
   */
  during(key: string, from: Stamp, to: Stamp): (ModelTree | undefined)[] {
    const showings = this.#of(key);
    const first = showings.findLastIndex(({ order }) => order <= from.order);
    const served = showings.filter(({ order }, index) => {
      const end = showings[index + 1];
      const lingers = end?.isSilent === true && end.atMs + this.#silentMs >= from.atMs;
      return order <= to.order && (index >= first || lingers);
    });
    return served.map(({ tree }) => tree);
  }

  #of(key: string): Showing[] {
    const showings = this.#showings.get(key) ?? [];
    this.#showings.set(key, showings);
    return showings;
  }
}

/** What a page shows of a tree, through the filter of its target. */
export function shownOf({ series }: ModelTree, seedPaths: readonly string[]): Shown {
  const shown = new Map<string, string>();
  for (const { path, name, value } of series)
    if (value !== undefined && passes(path, seedPaths)) shown.set(name, value);
  return shown;
}

function passes(path: string, seedPaths: readonly string[]): boolean {
  return (
    seedPaths.length === 0 ||
    seedPaths.some((prefix) =>
      prefix === '@root' ? path === '' : path === prefix || path.startsWith(`${prefix}.`),
    )
  );
}

/** Whether all of a tree has values. */
export const isWhole = (tree: ModelTree): boolean =>
  tree.isSynced && tree.series.every(({ value }) => value !== undefined);
