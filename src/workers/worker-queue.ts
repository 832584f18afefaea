// The segments that a target of workers follows: those of shown workers, and others in turn.
import { pluralize } from '../pluralize.js';
import type { Source } from '../model.js';
import type { SegmentPoller } from '../native/segment/segment-poller.js';

/** A segment that matches the patterns of a target. */
export interface FollowedWorker {
  readonly poller: SegmentPoller;
  source: Source | undefined;
  /** A source that reads the generation of `source` again after an error, until it has read all. */
  again: Source | undefined;
  /** When the segment of the running worker was removed, by the clock of the poller. */
  removedAtMs: number | undefined;
  notifications: number;
  /** Whether it was stalled at the last poll that could judge it; undefined if it never was. */
  isStalled: boolean | undefined;
  /** Why its segment cannot be read; empty if it can. */
  fault: string;
  /** Whether it is left out, since the target has enough workers. */
  isSurplus: boolean;
  /** The list of server keys with which its publisher was found to have ended. */
  endedIn: readonly string[] | undefined;
}

/** The maximum number of workers of a target. The target leaves out further workers. */
export const MAX_WORKERS = 256;
/** The maximum number of other segments, such as those of dead processes, that one poll looks at. */
const MAX_OTHERS = 256;

export class WorkerQueue implements Iterable<readonly [string, FollowedWorker]> {
  /** The workers by server key. */
  readonly #workers = new Map<string, FollowedWorker>();
  /** The server keys with a segment. */
  #listed: readonly string[] = [];
  #hasNew = false;

  get size(): number {
    return this.#workers.size;
  }

  /** Whether some segments have not been polled yet. */
  get hasNew(): boolean {
    return this.#hasNew;
  }

  /** Whether it is known of all segments whether their publishers run. */
  get areKnown(): boolean {
    return !this.#hasNew && this.keysOf(({ poller }) => poller.isOpen).length === 0;
  }

  [Symbol.iterator](): Iterator<readonly [string, FollowedWorker]> {
    return this.#workers.entries();
  }

  get(key: string): FollowedWorker | undefined {
    return this.#workers.get(key);
  }

  add(key: string, worker: FollowedWorker): void {
    this.#workers.set(key, worker);
  }

  delete(key: string): void {
    this.#workers.delete(key);
  }

  /** The server keys of the workers that `isMeant` accepts. */
  keysOf(isMeant: (worker: FollowedWorker) => boolean): readonly string[] {
    return [...this.#workers].flatMap(([key, worker]) => (isMeant(worker) ? [key] : []));
  }

  /**
   * The server keys to poll: those of all shown workers, then new segments, then others in turn. Another process may take
   * the key of a dead one; this changes the list.
   * @param listed the server keys with a segment; the same array until a file may have been added or replaced
   */
  due(listed: readonly string[]): readonly string[] {
    this.#listed = listed;
    const shown = this.keysOf(({ source }) => source !== undefined);
    const rest = this.keysOf(({ source }) => source === undefined);
    // While a poller waits for the state of a lock, its file is open.
    const isWaiting = (key: string): boolean => this.#workers.get(key)?.poller.isOpen === true;
    const fresh = [...rest.filter(isWaiting), ...listed.filter((key) => !this.#workers.has(key))];
    this.#hasNew = fresh.length > MAX_OTHERS;
    const isDue = (key: string): boolean =>
      !isWaiting(key) && this.#workers.get(key)?.endedIn !== listed;
    const others = [...fresh, ...rest.filter(isDue)];
    return [...shown, ...others.slice(0, MAX_OTHERS)];
  }

  /** Puts a segment without a shown worker at the end of the queue. */
  putBack(key: string, worker: FollowedWorker, hasEnded: boolean): void {
    if (worker.isSurplus) worker.poller.close();
    worker.endedIn = hasEnded && !worker.poller.isOpen ? this.#listed : undefined;
    this.#workers.delete(key);
    this.#workers.set(key, worker);
  }

  /** The number of the workers that are left out, and the reasons. */
  leftOut(): { readonly count: number; readonly reasons: readonly string[] } {
    const faults = [...this.#workers.values()].map(({ fault }) => fault).filter(Boolean);
    const surplus = this.keysOf(({ isSurplus }) => isSurplus);
    const [first] = surplus.toSorted();
    const reasons = faults.toSorted().slice(0, MAX_WORKERS);
    if (first !== undefined && !this.#hasNew)
      reasons.push(
        `${pluralize(surplus.length, 'worker')} such as ${first}: a target has at most ${MAX_WORKERS} workers`,
      );
    return { count: faults.length + surplus.length, reasons };
  }
}
