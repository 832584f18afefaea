// What belongs to ids that are added in ascending order: one entry for each run of ids with one owner.

/** Runs that are looked through at once for those that nobody needs. */
const CHUNK = 256;

interface Chunk<T> {
  /** The first id of each run; none is empty. */
  readonly firsts: number[];
  readonly owners: T[];
}

export class IdRuns<T> {
  readonly #isNeeded: (owner: T, first: number, end: number) => boolean;
  readonly #chunks: Chunk<T>[] = [];
  /** The chunk that is looked through next. */
  #next = 0;
  /** The owner of the last run. */
  #latest: T | undefined;

  /** @param isNeeded whether an owner still has an id from `first` on and below `end` */
  constructor(isNeeded: (owner: T, first: number, end: number) => boolean) {
    this.#isNeeded = isNeeded;
  }

  /** Adds an id higher than any before. */
  add(id: number, owner: T): void {
    if (owner === this.#latest) return;
    this.#latest = owner;
    let last = this.#chunks.at(-1);
    if (last === undefined || last.firsts.length === CHUNK) {
      last = { firsts: [], owners: [] };
      // Two for each new one: those that nobody needs are never more than the others, about.
      for (let i = 0; i < 2; i++) this.#tidyNext();
      this.#chunks.push(last);
    }
    last.firsts.push(id);
    last.owners.push(owner);
  }

  /** The owner of an id that was added; for others anything. */
  get(id: number): T | undefined {
    const chunks = this.#chunks;
    const chunk = chunks[lastUpTo(chunks.length, (at) => (chunks[at]?.firsts[0] ?? 0) <= id)];
    if (chunk === undefined) return undefined;
    const { firsts, owners } = chunk;
    return owners[lastUpTo(firsts.length, (at) => (firsts[at] ?? 0) <= id)];
  }

  /** Drops the runs of the next chunk that nobody needs, and joins it with the one before it. */
  #tidyNext(): void {
    if (this.#next >= this.#chunks.length) this.#next = 0;
    const at = this.#next++;
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const { firsts, owners } = chunk;
    const end = this.#chunks[at + 1]?.firsts[0] ?? Infinity;
    let to = 0;
    for (let from = 0; from < firsts.length; from++) {
      const [first, owner] = [firsts[from], owners[from]];
      if (first === undefined || owner === undefined) continue;
      if (!this.#isNeeded(owner, first, firsts[from + 1] ?? end)) continue;
      firsts[to] = first;
      owners[to++] = owner;
    }
    firsts.length = owners.length = to;
    const before = this.#chunks[at - 1];
    if (to > 0 && (before === undefined || before.firsts.length + to > CHUNK)) return;
    before?.firsts.push(...firsts);
    before?.owners.push(...owners);
    this.#chunks.splice(at, 1);
    this.#next = at;
  }
}

/** The last index below `count` for which that holds; it holds up to there. -1 for none. */
function lastUpTo(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
