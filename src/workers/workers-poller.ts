// Polls the segments of several workers as one target, whose tree outlives them.
import { Budget, SLICE_MS } from '../budget.js';
import { CLOCKS } from '../foreign/directory-listing.js';
import type { Source, Verdict } from '../model.js';
import type { SharedMemory } from '../native/os/shared-memory.js';
import { segmentName } from '../native/segment/layout.js';
import { serverKeyListing } from '../native/segment/segment-finder.js';
import { SegmentPoller } from '../native/segment/segment-poller.js';
import type { SegmentPoolOptions } from '../native/segment/segment-poller.js';
import { resultWithoutSource } from '../streams/poller.js';
import type { LastValues, PollResult, Poller, PollerFactory } from '../streams/poller.js';
import { FoldedSource } from './folded-source.js';
import type { FoldSettings } from './row-rules.js';
import { MAX_WORKERS, WorkerQueue } from './worker-queue.js';
import type { FollowedWorker } from './worker-queue.js';
import { hasEnded, isFault, verdictOn } from './worker-verdicts.js';

/** `segmentMaxItems` limits a worker, and the folded tree. */
export interface WorkersPollerOptions extends Omit<
  SegmentPoolOptions,
  'budget' | 'onEnd' | 'keepsOverdue'
> {
  /**
   * Lists the server keys that match patterns; by default those with a file in /dev/shm. Returns the same array until a
   * file may have been added or replaced.
   */
  readonly list?: (patterns: readonly string[]) => readonly string[];
}

const MAX_ITEMS = 1 << 21;
/**
 * How long the values of a worker count after its segment was removed. A segment that returns within this time goes on;
 * later, its counters would count twice.
 */
const RETURN_MS = 10_000;
/** The work budget of one poll, for the changes of all workers. */
const POLL_BUDGET = { steps: 8192, ms: SLICE_MS, leastSteps: 512, stepsPerClockRead: 32 };

export const workersPollers =
  (memory: SharedMemory, settings: FoldSettings, options: WorkersPollerOptions): PollerFactory =>
  (serverKey) =>
    new WorkersPoller(memory, serverKey, settings, options);

class WorkersPoller implements Poller {
  readonly #memory: SharedMemory;
  readonly #serverKey: string;
  readonly #settings: FoldSettings;
  readonly #options: WorkersPollerOptions;
  readonly #source: FoldedSource;
  readonly #list: () => readonly string[];
  readonly #nowMs: () => number;
  readonly #workers = new WorkerQueue();
  #budget = new Budget();
  /** The notifications of the workers that are forgotten. */
  #pastNotifications = 0;
  #wasShown = false;
  /** The verdict on the target at the last poll. */
  #publisher: Verdict | undefined;

  constructor(
    memory: SharedMemory,
    serverKey: string,
    settings: FoldSettings,
    options: WorkersPollerOptions,
  ) {
    const { segmentMaxItems = MAX_ITEMS, contextId, poolName, nowNs, list } = options;
    const nowMs = nowNs === undefined ? CLOCKS.nowMs : () => Number(nowNs() / 1_000_000n);
    this.#memory = memory;
    this.#serverKey = serverKey;
    this.#settings = settings;
    this.#options = options;
    this.#nowMs = nowMs;
    this.#source = new FoldedSource(segmentMaxItems, settings, serverKey, nowMs);
    const { segments } = settings;
    const listing = serverKeyListing({ contextId, poolName }, segments);
    this.#list = () => list?.(segments) ?? listing.now() ?? [];
  }

  poll(): PollResult {
    this.#budget = new Budget(POLL_BUDGET);
    const problems: string[] = [];
    /** The verdicts on the workers that run, including stalled ones. */
    const running: Verdict[] = [];
    const drops = { objects: 0, variables: 0 };
    let [hasMore, isUnstable, isReclaiming] = [false, false, false];
    for (const key of this.#keys(problems)) {
      const worker = this.#follow(key);
      const former = worker.source;
      const result = worker.poller.poll();
      const { publisher, source, changes } = result;
      const last = worker.source;
      worker.fault = isFault(publisher) ? `segment ${key}: ${publisher.reason}` : '';
      const isShown = last !== undefined || (source !== undefined && this.#hasRoom);
      worker.isSurplus = source !== undefined && !isShown;
      if (!isShown) this.#workers.putBack(key, worker, hasEnded(publisher));
      if (worker.isSurplus) continue;
      if (source !== undefined) {
        this.#take(worker, key, source);
        this.#source.judge(source, publisher);
        this.#source.apply(source, changes, result.hasMore);
        running.push(publisher);
        if (publisher.state === 'stalled') worker.isStalled = true;
        else if (worker.isStalled === true && publisher.state === 'live') worker.isStalled = false;
        if (source === worker.again && !result.hasMore) this.#endAgain(worker, true);
        worker.notifications = result.notifications;
        worker.removedAtMs = undefined;
      } else if (last !== undefined && hasEnded(publisher)) {
        this.#endAgain(worker, false);
        if (publisher.state !== 'absent' || !this.#mayReturn(worker)) this.#end(worker);
      }
      // Poll again soon, since another segment may have the name of one that has ended.
      if (result.isUnstable === true) isUnstable ||= publisher.isOverdue !== true;
      else hasMore ||= result.hasMore || (former !== undefined && worker.source === undefined);
      isReclaiming ||= result.isReclaiming === true;
      drops.objects += result.drops.objects;
      drops.variables += result.drops.variables;
    }
    hasMore ||= this.#workers.hasBacklog;
    if (!hasMore && !isUnstable) this.#source.removeOrphans();
    const leftOut = this.#workers.leftOut();
    const refusals = [...problems, ...leftOut.reasons, ...this.#source.refusals];
    const { size } = this.#source;
    this.#wasShown ||= size > 0;
    if (!this.#wasShown) {
      const publisher: Verdict = { state: 'absent', reason: refusals[0] ?? this.#absenceReason };
      return {
        ...resultWithoutSource(this.#serverKey, publisher),
        hasMore: this.#workers.hasBacklog,
      };
    }
    const stalledKeys = this.#workers.keysOf((worker) => worker.isStalled === true);
    this.#source.storeCounts(new Set(stalledKeys), leftOut.count);
    const stalled = stalledKeys.map((key) => `worker ${key} is stalled: it sends no heartbeat`);
    const publisher = verdictOn(
      running,
      { shown: size, leftOut: leftOut.count },
      refusals,
      stalled,
    );
    this.#publisher = publisher;
    const log = {
      warnings: [...refusals, ...stalled],
      notices: this.#workers
        .keysOf((worker) => worker.isStalled === false)
        .map((key) => `worker ${key} sends heartbeats again`),
    };
    // The changes wait until a worker sends heartbeats again.
    if (publisher.isOverdue === true)
      return {
        ...resultWithoutSource(this.#serverKey, publisher),
        ...{ ...log, hasMore, isReclaiming, notifications: this.#notifications, drops },
      };
    const { changes, hasMore: hasMoreChanges } = this.#source.readChanges();
    return {
      serverKey: this.#serverKey,
      publisher,
      ...log,
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

  openLast(): LastValues | undefined {
    if (this.#publisher?.isOverdue !== true) return undefined;
    const computing = this.#source.computingValues()[Symbol.iterator]();
    return {
      source: this.#source,
      readMore: () => computing.next().done !== true,
      ageSeconds: this.#publisher.heartbeatAgeSeconds,
      close: () => undefined,
    };
  }

  close(): void {
    for (const { poller } of this.#workers.values()) poller.close();
  }

  get #notifications(): number {
    let sum = this.#pastNotifications;
    for (const { notifications } of this.#workers.values()) sum += notifications;
    return sum;
  }

  /** The server keys to poll now. */
  #keys(problems: string[]): readonly string[] {
    let listed: readonly string[] = [];
    try {
      listed = this.#list();
    } catch (error) {
      problems.push(String(error));
    }
    const known = new Set(listed);
    // A shown worker without a segment is polled until its poller finds that it has ended. Others are forgotten.
    for (const [key, worker] of this.#workers)
      if (worker.source === undefined && !known.has(key)) this.#forget(key, worker);
    return this.#workers.keysToPoll(listed);
  }

  /** Why the target has had no worker yet. */
  get #absenceReason(): string {
    const patterns = this.#settings.segments.join(', ');
    if (this.#workers.size === 0) return `no segment matches ${patterns}`;
    return this.#workers.areStatesKnown
      ? `the publishers of all segments that match ${patterns} have ended`
      : `it is not yet known whether a publisher of a segment that matches ${patterns} is running`;
  }

  get #hasRoom(): boolean {
    return this.#source.size < MAX_WORKERS;
  }

  #follow(key: string): FollowedWorker {
    const known = this.#workers.get(key);
    if (known !== undefined) return known;
    const { contextId, poolName, ...options } = this.#options;
    const poller = new SegmentPoller(this.#memory, segmentName(contextId, poolName, key), key, {
      ...options,
      budget: () => this.#budget,
      keepsOverdue: true,
      onEnd: (source, isRunning) => {
        // The poller also opens the segment of a worker that had ended before.
        if (source.generation !== worker.source?.generation) return;
        this.#take(worker, key, source);
        const isComplete = this.#readRest(source);
        if (source === worker.again) this.#endAgain(worker, isComplete);
        // A running publisher restores the name of its segment. Its values count meanwhile.
        if (isRunning) this.#source.readLast(source);
        else this.#end(worker);
      },
    });
    const worker: FollowedWorker = {
      ...{ poller, source: undefined, again: undefined },
      ...{ removedAtMs: undefined, notifications: 0, isStalled: undefined },
      ...{ fault: '', isSurplus: false, endedAtList: undefined },
    };
    this.#workers.set(key, worker);
    return worker;
  }

  /**
   * Follows a source of a worker. After an error, the poller reads the same generation again. Then the last values count
   * until the new source has read all.
   */
  #take(worker: FollowedWorker, key: string, source: Source): void {
    const { source: last, again, notifications } = worker;
    if (source === last || source === again) return;
    this.#endAgain(worker, false);
    const isAgain = source.generation === last?.generation;
    this.#source.add(source, key, isAgain);
    if (isAgain) {
      worker.again = source;
      return;
    }
    if (last !== undefined) this.#source.end(last);
    this.#pastNotifications += notifications;
    worker.source = source;
    worker.isStalled = undefined;
  }

  #end(worker: FollowedWorker): void {
    if (worker.source !== undefined) this.#source.end(worker.source);
    worker.source = worker.removedAtMs = worker.isStalled = undefined;
  }

  #mayReturn(worker: FollowedWorker): boolean {
    worker.removedAtMs ??= this.#nowMs();
    return this.#nowMs() - worker.removedAtMs < RETURN_MS;
  }

  /** Ends a repeated read of a generation. If it is complete, the new source replaces the last one. */
  #endAgain(worker: FollowedWorker, isComplete: boolean): void {
    const { source, again } = worker;
    if (again === undefined) return;
    worker.again = undefined;
    if (!isComplete || source === undefined) {
      this.#source.end(again, false);
      return;
    }
    this.#source.replace(source, again);
    worker.source = again;
  }

  /** Reads the last changes of the directory of a worker that has ended. Returns whether it has read all. */
  #readRest(source: Source): boolean {
    try {
      for (let reads = 0; reads < MAX_LAST_READS; reads++) {
        const { changes, hasMore } = source.readChanges();
        this.#source.apply(source, changes, hasMore);
        if (!hasMore) return true;
      }
    } catch {
      // The part that was read before counts.
    }
    return false;
  }

  #forget(key: string, worker: FollowedWorker): void {
    this.#endAgain(worker, false);
    this.#end(worker);
    const { poller, notifications } = worker;
    this.#pastNotifications += notifications;
    poller.close();
    this.#workers.delete(key);
  }
}

/** The maximum number of reads of the directory of a worker that has ended. */
const MAX_LAST_READS = 64;
