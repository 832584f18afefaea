// Polls the segment of one server key, and each segment that replaces it, and judges the publisher.
import { Budget, SLICE_MS } from '../../budget.js';
import { Fault, isSystemError, messageOf } from '../../errors.js';
import { trusting } from '../../foreign/verified-file.js';
import type { PublisherProcess, Source, StructureChanges, Verdict } from '../../model.js';
import { resultWithoutSource } from '../../streams/poller.js';
import type { AvailableNames, LastValues, PollResult, Poller } from '../../streams/poller.js';
import { MUTABLE, MUTABLE_OFFSET, SEGMENT_STATE, segmentName } from './layout.js';
import { HeartbeatClock, judge, processOf } from './liveness.js';
import { checkSize, readHeader, readMutableFields, segmentNames } from './segment-header.js';
import type { SegmentHeader, MutableFields } from './segment-header.js';
import { CHANGE_STEPS, SegmentSource } from './segment-source.js';
import type { NameState, SegmentFile, SharedMemory } from '../os/shared-memory.js';

const { hrtime } = process;

/** Time between two checks of lock and name. A check makes several system calls, one of them through ffi. */
const CHECK_PERIOD_NS = 500_000_000n;
const MIN_RETRY_NS = 1_000_000_000n;
/** The time before a failed segment is reopened, as a multiple of the time that it was read. */
const RETRY_FACTOR = 20n;
const MAX_RETRY_NS = 120_000_000_000n;
const within = (ns: bigint, least: bigint, most: bigint): bigint =>
  ns < least ? least : ns > most ? most : ns;
const POLL_BUDGET = {
  steps: CHANGE_STEPS,
  ms: SLICE_MS,
  leastSteps: CHANGE_STEPS / 16,
  stepsPerClockRead: 32,
};

interface OpenedSegment {
  readonly file: SegmentFile;
  readonly header: SegmentHeader;
  readonly source: SegmentSource;
  /** Undefined until the lock shows whether the publisher runs. */
  process: PublisherProcess | undefined;
  checkedAtNs: bigint;
  /** Undefined until the first answer of `askLock`. */
  isLocked: boolean | undefined;
  nameState: NameState;
  readonly heartbeatClock: HeartbeatClock;
}

interface SegmentPollerOptions {
  /** How long the values of a stalled publisher are served; 0, the default, for no limit. */
  readonly stalledAfterSeconds?: number | undefined;
  /**
   * Whether results keep the source of a stalled publisher after `stalledAfterSeconds`; false by default. The caller
   * then withholds the values.
   */
  readonly keepsOverdue?: boolean;
  /** Trusted users, besides root and the user of this process. An empty list, the default, trusts all users. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** Limit of objects and variables of a segment; `MAX_ITEMS` by default. */
  readonly segmentMaxItems?: number | undefined;
  /** The clock of heartbeats in nanoseconds; by default CLOCK_MONOTONIC. */
  readonly nowNs?: (() => bigint) | undefined;
  /** Makes the work budget of one poll; by default `CHANGE_STEPS`. */
  readonly budget?: () => Budget;
  /**
   * Called when the publisher has ended or its segment is gone, while the source can still be read.
   * @param isRunning whether the publisher still holds the lock: only the name of its segment was removed
   */
  readonly onEnd?: (source: Source, isRunning: boolean) => void;
}

export interface SegmentPoolOptions extends SegmentPollerOptions {
  readonly contextId: string;
  readonly poolName: string;
}

/** Returns a function that makes the poller for a server key of one pool. */
export const segmentPollers =
  (memory: SharedMemory, { contextId, poolName, ...options }: SegmentPoolOptions) =>
  (serverKey: string): SegmentPoller =>
    new SegmentPoller(memory, segmentName(contextId, poolName, serverKey), serverKey, {
      ...options,
      budget: () => new Budget(POLL_BUDGET),
    });

export class SegmentPoller implements Poller {
  readonly #memory: SharedMemory;
  readonly #name: string;
  readonly #serverKey: string;
  readonly #nowNs: () => bigint;
  readonly #options: SegmentPollerOptions;
  #opened: OpenedSegment | undefined;
  /**
   * Why the last segment could not be read. Stays set until a segment has been read completely, is missing, or is not
   * served.
   */
  #failure: Verdict | undefined;
  /** The verdict on the last segment that ended; undefined once the next segment is judged. */
  #ended: Verdict | undefined;
  #retryAtNs = 0n;
  /** How long the open segment has been read since the last complete read. */
  #readingNs = 0n;

  constructor(
    memory: SharedMemory,
    name: string,
    serverKey: string,
    options: SegmentPollerOptions = {},
  ) {
    this.#memory = memory;
    this.#name = name;
    this.#serverKey = serverKey;
    this.#nowNs = options.nowNs ?? (() => hrtime.bigint());
    this.#options = options;
  }

  /** Whether a segment is open. If the last result had no source, the poller waits for the state of the lock. */
  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  poll(): PollResult {
    const nowNs = this.#nowNs();
    try {
      const pollResult = this.#poll(nowNs);
      this.#readingNs = pollResult.hasMore ? this.#readingNs + this.#nowNs() - nowNs : 0n;
      return pollResult;
    } catch (error) {
      const endNs = this.#nowNs();
      const delayNs = (this.#readingNs + endNs - nowNs) * RETRY_FACTOR;
      this.close();
      this.#retryAtNs = endNs + within(delayNs, MIN_RETRY_NS, MAX_RETRY_NS);
      this.#failure = failure(error);
      return this.#withoutSource(this.#failure);
    }
  }

  wait(notifications: number, onChange: () => void): () => void {
    const { file } = this.#opened ?? {};
    return (
      file?.wait(MUTABLE_OFFSET + MUTABLE.notifications, notifications >>> 0, onChange) ??
      (() => undefined)
    );
  }

  availableNames(): AvailableNames {
    return { name: this.#name, names: segmentNames() };
  }

  openLast(): LastValues | undefined {
    const opened = this.#open();
    if (opened === undefined) return undefined;
    const { file, header, source } = opened;
    try {
      const { state, heartbeatNs } = readMutableFields(file, header);
      const ageNs = this.#nowNs() - heartbeatNs;
      // A publisher in another time namespace has another clock.
      const isKnown = header.heartbeatPeriodNs > 0n && heartbeatNs > 0n && ageNs >= 0n;
      if (state === SEGMENT_STATE.live)
        return {
          source,
          readMore: () => source.readChanges(new Budget(POLL_BUDGET)).hasMore,
          ageSeconds: isKnown ? Number(ageNs) / 1e9 : undefined,
          close: () => {
            file.close();
          },
        };
      file.close();
      return undefined;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  close(): void {
    this.#opened?.file.close();
    this.#opened = undefined;
    this.#readingNs = 0n;
  }

  #poll(nowNs: bigint): PollResult {
    if (this.#failure !== undefined && nowNs < this.#retryAtNs)
      return this.#withoutSource(this.#failure);
    const opened = (this.#opened ??= this.#open());
    if (opened === undefined) {
      this.#failure = undefined;
      const reason = `no segment ${this.#name} in shared memory`;
      return this.#withoutSource({ state: 'absent', reason });
    }
    const fields = readMutableFields(opened.file, opened.header);
    this.#check(opened, nowNs, fields);
    if (opened.isLocked === undefined)
      return this.#withoutSource(this.#failure ?? this.#ended ?? LOCK_UNKNOWN);
    const { isLocked, nameState } = opened;
    const { heartbeatPeriodNs } = opened.header;
    const { state, notifications } = fields;
    const heartbeatNs = opened.heartbeatClock.at(fields.heartbeatNs, nowNs);
    const { publisher, isServed } = judge(
      { state, nameState, isLocked, heartbeatNs, heartbeatPeriodNs, nowNs },
      BigInt(this.#options.stalledAfterSeconds ?? 0) * 1_000_000_000n,
    );
    const process = (opened.process ??= processOf(opened.header, opened.file, isLocked));
    const isKept = publisher.isOverdue === true && this.#options.keepsOverdue === true;
    if (!isServed && !isKept) return { ...this.#unserved(publisher, notifications), process };
    this.#ended = undefined;
    const changes = changesOf(opened.source, fields, this.#options.budget?.());
    if (!changes.hasMore) this.#failure = undefined;
    return {
      serverKey: this.#serverKey,
      // Each retry reads a failed segment from its beginning, and may fail again near its end. So the failure is
      // reported until the whole segment has been read.
      publisher: this.#failure ?? publisher,
      process,
      source: opened.source,
      ...changes,
      notifications,
      drops: { objects: fields.objectsDropped, variables: fields.variablesDropped },
    };
  }

  #unserved(publisher: Verdict, notifications: number): PollResult {
    const isStalled = publisher.state === 'stalled';
    this.#failure = undefined;
    this.#ended = isStalled ? undefined : publisher;
    // A stalled publisher may resume at any moment, so its segment stays open.
    if (isStalled) return { ...this.#withoutSource(publisher), notifications };
    // The segment was closed or replaced. The next poll opens the segment that has the name by then.
    if (this.#opened !== undefined)
      this.#options.onEnd?.(this.#opened.source, this.#opened.isLocked === true);
    this.close();
    return this.#withoutSource(publisher);
  }

  #open(): OpenedSegment | undefined {
    const file = this.#memory.open(this.#name);
    if (file === undefined) return undefined;
    try {
      checkOwnership(this.#name, file, this.#options.trustedOwners);
      const header = readHeader(file);
      const source = new SegmentSource(file, header, this.#options.segmentMaxItems);
      const heartbeatClock = new HeartbeatClock();
      const unchecked = { checkedAtNs: 0n, isLocked: undefined, nameState: 'kept' } as const;
      return { file, header, source, process: undefined, ...unchecked, heartbeatClock };
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #check(opened: OpenedSegment, nowNs: bigint, fields: MutableFields): void {
    const isEnding = fields.state !== SEGMENT_STATE.live;
    if (!isEnding && opened.checkedAtNs !== 0n && nowNs - opened.checkedAtNs < CHECK_PERIOD_NS)
      return;
    opened.checkedAtNs = nowNs;
    const nameState = opened.file.nameState();
    // Report a removed name together with the state of the lock, which tells whether the publisher has ended, too.
    if (nameState !== 'removed') opened.nameState = nameState;
    opened.file.askLock((isLocked) => {
      opened.isLocked = isLocked;
      opened.nameState = nameState;
    });
    if (nameState === 'kept') checkSize(opened.file, opened.header);
  }

  #withoutSource(publisher: Verdict): PollResult {
    return resultWithoutSource(this.#serverKey, publisher);
  }
}

/**
 * Checks who may write to a segment. An empty list of owners trusts all users.
 * @throws Fault NATIVE_FAILED for a segment that an untrusted user may have written
 */
export function checkOwnership(
  name: string,
  { ownership: { uid, isWritableByAll } }: SegmentFile,
  trustedOwners: readonly number[] = [],
): void {
  if (trustedOwners.length === 0) return;
  const refuse = (why: string) => new Fault('NATIVE_FAILED', `Segment ${name} ${why}`);
  if (!trusting(trustedOwners)(uid))
    throw refuse(`belongs to user ${uid}, who is not in trusted_owners`);
  if (isWritableByAll) throw refuse('is writable by all users, although trusted_owners is set');
}

function changesOf(
  source: SegmentSource,
  fields: MutableFields,
  budget?: Budget,
): StructureChanges & Pick<PollResult, 'isUnstable'> {
  try {
    return source.readChanges(budget, fields);
  } catch (error) {
    // A directory that changes too fast is not invalid: the next poll tries again.
    if (error instanceof Fault && error.code === 'SEGMENT_UNSTABLE')
      return { changes: [], hasMore: true, isUnstable: true };
    throw error;
  }
}

const LOCK_UNKNOWN: Verdict = {
  state: 'building',
  reason: 'it is not yet known whether its publisher is running',
};

function failure(error: unknown): Verdict {
  const reason = messageOf(error);
  // A refused system call says nothing about the segment itself.
  if (isSystemError(error) || (error instanceof Fault && error.code === 'NATIVE_FAILED'))
    return { state: 'absent', reason };
  if (error instanceof Fault && error.code === 'SEGMENT_INCOMPATIBLE')
    return { state: 'incompatible', reason };
  return { state: 'corrupt', reason };
}
