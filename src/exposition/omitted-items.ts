// Counts the series, objects and variables that a target omits.

/** How many items the text of a target omits now. */
export interface Omissions {
  /**
   * Series that are not shown because another series has the same name and labels, or another metric has the same
   * name.
   */
  readonly clashingSeries: number;
  /** Series, objects and variables omitted because of a limit, and series with a reserved name. */
  readonly omittedSeries: number;
  readonly omittedObjects: number;
  readonly omittedVariables: number;
}

/** The maximum number of items that are recorded. */
const MAX_ITEMS = 10_000;

/**
 * The omitted items, in groups. A group is removed as a whole: the series of a variable, or the variables of an
 * object. Items beyond the first 10,000 are not recorded; together they add 1 to the amount, until the target gets a
 * new view.
 */
export class OmittedItems {
  readonly #groups = new Map<number, Map<string | number, number>>();
  #items = 0;
  #amount = 0;
  #others = 0;

  /** How many series, objects or variables are omitted. */
  get amount(): number {
    return this.#amount + this.#others;
  }

  /**
   * Adds an item of `amount` series, objects or variables, or changes its amount. Returns the increase of its amount.
   * If there are too many items, the item is not recorded, and each call returns the whole amount.
   */
  add(group: number, key: string | number, amount = 1): number {
    const former = this.delete(group, key);
    if (this.#items >= MAX_ITEMS) {
      this.addOthers();
      return amount;
    }
    const keys = this.#groups.get(group);
    if (keys === undefined) this.#groups.set(group, new Map([[key, amount]]));
    else keys.set(key, amount);
    this.#items++;
    this.#amount += amount;
    return Math.max(0, amount - former);
  }

  /** Counts all unrecorded items together as one item, until the target gets a new view. */
  addOthers(): void {
    this.#others = 1;
  }

  /** Whether any item of a group is recorded. If none is, `delete` does nothing. */
  has(group: number): boolean {
    return this.#items > 0 && this.#groups.has(group);
  }

  /** Forgets an item. Returns its amount; 0 if it was not recorded. */
  delete(group: number, key: string | number): number {
    const keys = this.#groups.get(group);
    const amount = keys?.get(key);
    if (keys === undefined || amount === undefined) return 0;
    keys.delete(key);
    if (keys.size === 0) this.#groups.delete(group);
    this.#items--;
    this.#amount -= amount;
    return amount;
  }

  /** Forgets all items of a group. */
  deleteAll(group: number): void {
    for (const key of [...(this.#groups.get(group)?.keys() ?? [])]) this.delete(group, key);
  }
}
