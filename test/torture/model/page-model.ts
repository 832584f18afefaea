// The history of all published trees in plain memory, and the series that a page may show.

/** The series of a variable, or of an object's state. The value is written as on a page. */
export interface ModelSeries {
  /**
   * Whether this is a state. Only pages with a catalogue show states, and the model knows only the states
   * of these pages.
   */
  readonly isState: boolean;
  /** The path of the object below the root, such as `a.b`; empty for the root. */
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

/** A moment of a simulation. */
export interface Stamp {
  /** Increases with every moment. */
  readonly order: number;
  readonly atMs: number;
}

/** The state of a tree until the next version for the same server key. */
interface TreeVersion extends Stamp {
  /** Undefined while there is no root. */
  readonly tree: ModelTree | undefined;
  /** Whether the previous tree ended without a notification. If so, it may still be served for a while. */
  readonly isAbrupt: boolean;
}

/** Values of series by their names. */
export type PageSeries = ReadonlyMap<string, string>;

export class PageModel {
  readonly #nowMs: () => number;
  readonly #detectionMs: number;
  readonly #versions = new Map<string, TreeVersion[]>();
  /** All values that each series has had. */
  readonly #values = new Set<string>();
  #order = 0;

  /** @param detectionMs the longest time for which a killed publisher may still be served */
  constructor(nowMs: () => number, detectionMs: number) {
    this.#nowMs = nowMs;
    this.#detectionMs = detectionMs;
  }

  stamp(): Stamp {
    return { order: ++this.#order, atMs: this.#nowMs() };
  }

  /**
   * Adds a version of the tree of a server key; undefined means that it has no root.
   * @param isAbrupt whether the previous tree ended without a notification
   */
  note(key: string, tree: ModelTree | undefined, isAbrupt = false): void {
    this.#of(key).push({ ...this.stamp(), tree, isAbrupt });
    for (const { name, value } of tree?.series ?? []) this.#values.add(`${key} ${name} ${value}`);
  }

  /** Whether a series has had a value at any time. */
  everHad(key: string, name: string, value: string): boolean {
    return this.#values.has(`${key} ${name} ${value}`);
  }

  /**
   * Returns the value of a variable at a moment. If the variable was unset at that moment, returns its last earlier
   * value.
   */
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

  /** Whether the root of a server key may have been lost or replaced since a moment. */
  wasLost(key: string, since: Stamp): boolean {
    return this.#of(key).some(
      ({ order, atMs, tree, isAbrupt }) =>
        (tree === undefined || isAbrupt) &&
        (order > since.order || atMs >= since.atMs - this.#detectionMs),
    );
  }

  /**
   * Returns the trees that a page may show for a server key if it was read between two moments. An undefined tree
   * means that there was no root.
   */
  during(key: string, from: Stamp, to: Stamp): (ModelTree | undefined)[] {
    const versions = this.#of(key);
    const first = versions.findLastIndex(({ order }) => order <= from.order);
    const served = versions.filter(({ order }, index) => {
      const end = versions[index + 1];
      const lingers = end?.isAbrupt === true && end.atMs + this.#detectionMs >= from.atMs;
      return order <= to.order && (index >= first || lingers);
    });
    return served.map(({ tree }) => tree);
  }

  #of(key: string): TreeVersion[] {
    const versions = this.#versions.get(key) ?? [];
    this.#versions.set(key, versions);
    return versions;
  }
}

/**
 * Returns the series of a tree that pass the target's filter: either those of states or those of variables.
 */
export function seriesOfTree(
  { series }: ModelTree,
  seedPaths: readonly string[],
  ofStates: boolean,
): PageSeries {
  const shown = new Map<string, string>();
  for (const { isState, path, name, value } of series)
    if (isState === ofStates && value !== undefined && passes(path, seedPaths))
      shown.set(name, value);
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

/** Whether all objects of a tree are synced and all its variables have values. */
export const isWhole = (tree: ModelTree): boolean =>
  tree.isSynced && tree.series.every(({ value }) => value !== undefined);
