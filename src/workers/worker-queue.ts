// The segments that a target of workers follows: those of shown workers, and others in turn.
import { pluralize } from '../pluralize.js';
import type { Source } from '../model.js';
import type { SegmentPoller } from '../native/segment/segment-poller.js';

/** A worker process of a target, which may have ended: the publisher of a segment whose server key matches `segments`. */
export interface FollowedWorker {
  readonly poller: SegmentPoller;
  source: Source | undefined;
  /** A source that reads the generation of `source` again after an error, until it has read all. */
  again: Source | undefined;
  /** When the segment of the running worker was removed, by the clock of the poller. */
  removedAtMs: number | undefined;
  notifications: number;
  /** Whether the last poll that found it live or stalled found it stalled; undefined if it never was stalled. */
  isStalled: boolean | undefined;
  /** Why its segment cannot be read; empty if it can. */
  fault: string;
  /** Whether it is left out, since the target has the maximum number of workers. */
  isSurplus: boolean;
  /** The list of server keys at the poll that found its publisher ended; undefined while it may run. */
  endedAtList: readonly string[] | undefined;
}

/** The maximum number of workers of a target. The target leaves out further workers. */
export const MAX_WORKERS = 256;
/** The maximum number of segments without a shown worker, such as those of dead processes, that one poll reads. */
const MAX_OTHERS = 256;

/** The workers of a target by server key. The order of those that are not shown is the order in which polls read them. */
export class WorkerQueue extends Map<string, FollowedWorker> {
  /** The server keys with a segment at the last call of `keysToPoll`. */
  #listed: readonly string[] = [];
  #hasBacklog = false;

  /** Whether new segments, and those whose lock is being checked, are more than one poll reads. */
  get hasBacklog(): boolean {
    return this.#hasBacklog;
  }

  /** Whether each segment has been found to have a running publisher, or an ended one. */
  get areStatesKnown(): boolean {
    return !this.#hasBacklog && this.keysOf(({ poller }) => poller.isOpen).length === 0;
  }

  /** The server keys of the workers that `predicate` accepts. */
  keysOf(predicate: (worker: FollowedWorker) => boolean): readonly string[] {
    return [...this].flatMap(([key, worker]) => (predicate(worker) ? [key] : []));
  }

  /**
   * Returns the server keys to poll: those of all shown workers, then those of new segments, then others in turn. The
   * segment of an ended publisher is left out until the list changes, since its key may then have a new segment.
   * @param listed the server keys with a segment; the same array until a file may have been added or replaced
   */
  keysToPoll(listed: readonly string[]): readonly string[] {
    this.#listed = listed;
    const shown = this.keysOf(({ source }) => source !== undefined);
    const rest = this.keysOf(({ source }) => source === undefined);
    // While a poller waits for the state of a lock, its file is open.
    const isWaiting = (key: string): boolean => this.get(key)?.poller.isOpen === true;
    const fresh = [...rest.filter(isWaiting), ...listed.filter((key) => !this.has(key))];
    this.#hasBacklog = fresh.length > MAX_OTHERS;
    const isDue = (key: string): boolean =>
      !isWaiting(key) && this.get(key)?.endedAtList !== listed;
    const others = [...fresh, ...rest.filter(isDue)];
    return [...shown, ...others.slice(0, MAX_OTHERS)];
  }

  /** Puts a worker that is not shown at the end of the queue. */
  putBack(key: string, worker: FollowedWorker, hasEnded: boolean): void {
    if (worker.isSurplus) worker.poller.close();
    worker.endedAtList = hasEnded && !worker.poller.isOpen ? this.#listed : undefined;
    this.delete(key);
    this.set(key, worker);
  }

  /** The number of workers that are beyond the limit or whose segments cannot be read, and the reasons. */
  leftOut(): { readonly count: number; readonly reasons: readonly string[] } {
    const faults = [...this.values()].map(({ fault }) => fault).filter(Boolean);
    const surplus = this.keysOf(({ isSurplus }) => isSurplus);
    const [first] = surplus.toSorted();
    const reasons = faults.toSorted().slice(0, MAX_WORKERS);
    if (first !== undefined && !this.#hasBacklog)
      reasons.push(
        `${pluralize(surplus.length, 'worker')} such as ${first}: a target has at most ${MAX_WORKERS} workers`,
      );
    return { count: faults.length + surplus.length, reasons };
  }
}
