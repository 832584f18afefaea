// Polls the segments of several workers as one target, whose tree outlives them.
import { Budget, SLICE_MS } from '../budget.js';
import { CLOCKS } from '../foreign/directory-listing.js';
import { shownReason } from '../foreign/polled-source.js';
import { pluralize } from '../pluralize.js';
import type { Source, Verdict } from '../model.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import { segmentName } from '../native/segment/layout.js';
import { serverKeyListing } from '../native/segment/segment-finder.js';
import { SegmentPoller } from '../native/segment/segment-poller.js';
import { resultWithoutSource } from '../streams/poller.js';
import type { PollResult, Poller, PollerFactory } from '../streams/poller.js';
import { FoldedSource } from './folded-source.js';
import type { WorkersSettings } from './settings.js';

export interface WorkersPollerOptions {
  readonly contextId: string;
  readonly poolName: string;
  readonly stalledAfterSeconds?: number | undefined;
  readonly trustedOwners?: readonly number[] | undefined;
  /** The maximum number of objects and variables: of a worker, and of the folded tree. */
  readonly segmentMaxItems?: number | undefined;
  /** Nanoseconds of the heartbeat clock; by default CLOCK_MONOTONIC. */
  readonly nowNs?: (() => bigint) | undefined;
  /** Lists the server keys that match patterns; by default those with a file in /dev/shm. */
  readonly list?: (patterns: readonly string[]) => readonly string[];
}

interface Worker {
  readonly poller: SegmentPoller;
  source: Source | undefined;
  notifications: number;
}

const MAX_ITEMS = 1 << 21;
/** The maximum number of workers of a target. The target leaves out further workers. */
export const MAX_WORKERS = 256;
/** The work budget of one poll, for the changes of all workers. */
const POLL_BUDGET = { steps: 8192, ms: SLICE_MS, leastSteps: 512, stepsPerClockRead: 32 };

export const workersPollers =
  (memory: SharedMemory, settings: WorkersSettings, options: WorkersPollerOptions): PollerFactory =>
  (serverKey) =>
    new WorkersPoller(memory, serverKey, settings, options);

class WorkersPoller implements Poller {
  readonly #memory: SharedMemory;
  readonly #serverKey: string;
  readonly #settings: WorkersSettings;
  readonly #options: WorkersPollerOptions;
  readonly #source: FoldedSource;
  readonly #list: () => readonly string[];
  /** The workers by server key. */
  readonly #workers = new Map<string, Worker>();
  #budget = new Budget();
  /** The notifications of the workers that are forgotten. */
  #pastNotifications = 0;
  #wasShown = false;

  constructor(
    memory: SharedMemory,
    serverKey: string,
    settings: WorkersSettings,
    options: WorkersPollerOptions,
  ) {
    const { segmentMaxItems = MAX_ITEMS, contextId, poolName, nowNs, list } = options;
    const nowMs = nowNs === undefined ? CLOCKS.nowMs : () => Number(nowNs() / 1_000_000n);
    this.#memory = memory;
    this.#serverKey = serverKey;
    this.#settings = settings;
    this.#options = options;
    this.#source = new FoldedSource(segmentMaxItems, settings, serverKey, nowMs);
    const { segments } = settings;
    const listing = serverKeyListing({ contextId, poolName }, segments);
    this.#list = () => list?.(segments) ?? listing.now() ?? [];
  }

  poll(): PollResult {
    this.#budget = new Budget(POLL_BUDGET);
    const refusals: string[] = [];
    const drops = { objects: 0, variables: 0 };
    let [hasMore, isUnstable, isReclaiming] = [false, false, false];
    for (const key of this.#keys(refusals)) {
      const worker = this.#follow(key);
      const former = worker.source;
      const result = worker.poller.poll();
      const { publisher, source, changes } = result;
      const last = worker.source;
      if (source !== undefined) {
        if (source !== last) this.#begin(worker, source);
        this.#source.apply(source, changes);
        worker.notifications = result.notifications;
      } else if (last !== undefined && ENDED.has(publisher.state) && !isFault(publisher)) {
        this.#source.end(last);
        worker.source = undefined;
      }
      // Poll again soon, since another segment may have the name of one that has ended.
      if (result.isUnstable === true) isUnstable = true;
      else hasMore ||= result.hasMore || (former !== undefined && worker.source === undefined);
      isReclaiming ||= result.isReclaiming === true;
      if (isFault(publisher)) refusals.push(`segment ${key}: ${publisher.reason}`);
      drops.objects += result.drops.objects;
      drops.variables += result.drops.variables;
    }
    if (!hasMore && !isUnstable) this.#source.removeOrphans();
    for (const [name, { reason }] of this.#source.refusals) refusals.push(`${name}: ${reason}`);
    const { size } = this.#source;
    this.#wasShown ||= size > 0;
    if (!this.#wasShown) {
      const reason = refusals[0] ?? `no segment matches ${this.#settings.segments.join(', ')}`;
      return resultWithoutSource(this.#serverKey, { state: 'absent', reason });
    }
    const { changes, hasMore: hasMoreChanges } = this.#source.readChanges();
    return {
      serverKey: this.#serverKey,
      publisher: { state: 'live', reason: shownReason(size, ['worker', 'workers'], refusals) },
      warnings: refusals,
      source: this.#source,
      changes,
      hasMore: hasMore || hasMoreChanges || isUnstable,
      isUnstable: isUnstable && !hasMore && !hasMoreChanges,
      isReclaiming,
      notifications: this.#notifications,
      drops,
    };
  }

  wait(notifications: number, onChange: () => void): () => void {
    if (notifications !== this.#notifications) {
      onChange();
      return () => undefined;
    }
    let isOver = false;
    const ends: (() => void)[] = [];
    const end = () => {
      isOver = true;
      for (const each of ends) each();
    };
    for (const worker of this.#workers.values())
      if (worker.source !== undefined)
        ends.push(
          worker.poller.wait(worker.notifications, () => {
            if (isOver) return;
            end();
            onChange();
          }),
        );
    return end;
  }

  close(): void {
    for (const { poller } of this.#workers.values()) poller.close();
  }

  get #notifications(): number {
    let sum = this.#pastNotifications;
    for (const { notifications } of this.#workers.values()) sum += notifications;
    return sum;
  }

  /** The server keys to poll: first live workers, then new segments, then those of workers that have ended. */
  #keys(refusals: string[]): readonly string[] {
    let listed: readonly string[] = [];
    try {
      listed = this.#list();
    } catch (error) {
      refusals.push(String(error));
    }
    // A worker without a segment is polled until its poller knows that it has ended.
    for (const [key, worker] of this.#workers)
      if (worker.source === undefined && !listed.includes(key)) this.#forget(key, worker);
    const rank = (key: string): number => {
      const worker = this.#workers.get(key);
      return worker === undefined ? 1 : worker.source === undefined ? 2 : 0;
    };
    const keys = [...new Set([...this.#workers.keys(), ...listed])].toSorted(
      (one, other) => rank(one) - rank(other),
    );
    const surplus = keys.splice(MAX_WORKERS);
    for (const key of surplus) {
      const worker = this.#workers.get(key);
      if (worker !== undefined) this.#forget(key, worker);
    }
    if (surplus.length > 0)
      refusals.push(
        `${pluralize(surplus.length, 'segment')} such as ${surplus[0] ?? ''}: a target has at most ${MAX_WORKERS} workers`,
      );
    return keys;
  }

  #follow(key: string): Worker {
    const known = this.#workers.get(key);
    if (known !== undefined) return known;
    const { contextId, poolName, stalledAfterSeconds, trustedOwners, segmentMaxItems, nowNs } =
      this.#options;
    const poller = new SegmentPoller(this.#memory, segmentName(contextId, poolName, key), key, {
      ...{ stalledAfterSeconds, trustedOwners, segmentMaxItems, nowNs },
      budget: () => this.#budget,
      onEnd: (source) => {
        // The poller also opens the segment of a worker that had ended before.
        if (source !== worker.source) return;
        this.#readRest(source);
        this.#source.end(source);
        worker.source = undefined;
      },
    });
    const worker: Worker = { poller, source: undefined, notifications: 0 };
    this.#workers.set(key, worker);
    return worker;
  }

  /** Follows a new source of a worker. After an error, the poller reads the same generation again. */
  #begin(worker: Worker, source: Source): void {
    const { source: last, notifications } = worker;
    if (last !== undefined) this.#source.end(last, last.generation !== source.generation);
    this.#pastNotifications += notifications;
    worker.source = source;
  }

  /** Reads the last changes of the directory of a worker that has ended. */
  #readRest(source: Source): void {
    try {
      for (let reads = 0, hasMore = true; hasMore && reads < MAX_LAST_READS; reads++) {
        const changes = source.readChanges();
        hasMore = changes.hasMore;
        this.#source.apply(source, changes.changes);
      }
    } catch {
      // The part that was read before counts.
    }
  }

  #forget(key: string, { poller, source, notifications }: Worker): void {
    if (source !== undefined) this.#source.end(source);
    this.#pastNotifications += notifications;
    poller.close();
    this.#workers.delete(key);
  }
}

/** The maximum number of reads of the directory of a worker that has ended. */
const MAX_LAST_READS = 64;
/** In other states, such as `stalled` or `corrupt`, the last values of a worker stay, since it may return. */
const ENDED: ReadonlySet<string> = new Set(['absent', 'closed', 'dead', 'superseded']);

/** Whether an operator must repair something. A worker that comes or goes is no fault. */
const isFault = ({ state, reason }: Verdict): boolean =>
  state === 'corrupt' ||
  state === 'incompatible' ||
  (state === 'absent' && !/^(no segment|segment was removed)/.test(reason));
