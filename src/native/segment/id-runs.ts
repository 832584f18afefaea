// What belongs to ids that are added in ascending order: one entry for each run of ids with one owner.

/** Runs are not looked through for those that nobody needs while there are fewer. */
const FEW_RUNS = 1024;

export class IdRuns<T> {
  readonly #isNeeded: (owner: T, first: number, end: number) => boolean;
  /** The first id of each run. */
  readonly #firsts: number[] = [];
  readonly #owners: T[] = [];
  #limit = FEW_RUNS;

  /** @param isNeeded whether an owner still has an id from `first` on and below `end` */
  constructor(isNeeded: (owner: T, first: number, end: number) => boolean) {
    this.#isNeeded = isNeeded;
  }

  /** Adds an id higher than any before. */
  add(id: number, owner: T): void {
    if (this.#owners.at(-1) === owner) return;
    if (this.#firsts.length === this.#limit) this.#tidy();
    this.#firsts.push(id);
    this.#owners.push(owner);
  }

  /** The owner of an id that was added; for others anything. */
  get(id: number): T | undefined {
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#firsts[middle] ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return this.#owners[low - 1];
  }

  /** Drops the runs that nobody needs. They double before the next time. */
  #tidy(): void {
    const firsts = this.#firsts;
    let to = 0;
    firsts.forEach((first, from) => {
      const owner = this.#owners[from];
      if (owner === undefined || !this.#isNeeded(owner, first, firsts[from + 1] ?? Infinity))
        return;
      firsts[to] = first;
      this.#owners[to++] = owner;
    });
    firsts.length = this.#owners.length = to;
    this.#limit = Math.max(FEW_RUNS, 2 * to);
  }
}
