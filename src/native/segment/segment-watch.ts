// Watches one server key: opens its segment, follows its generations, and judges its publisher.
import { getuid, hrtime } from 'node:process';
import { Budget, SLICE_MS } from '../../budget.js';
import { Fault, isSystemError, messageOf } from '../../errors.js';
import type { PublisherProcess, StructureChanges, Verdict } from '../../model.js';
import { nothingSeen } from '../../streams/watch.js';
import type { Existing, PollResult, Watch } from '../../streams/watch.js';
import { MUTABLE, MUTABLE_OFFSET, segmentName } from './layout.js';
import { HeartbeatClock, judge, processOf } from './liveness.js';
import { checkSize, readHeader, readWords, segmentNames } from './segment-header.js';
import type { SegmentHeader, SegmentWords } from './segment-header.js';
import { SYNC_STEPS, SegmentSource } from './segment-source.js';
import type { NameHolder, SegmentFile, SharedMemory } from '../os/shared-memory.js';

/** The lock and the name are checked at most this often: both are system calls, one through ffi. */
const ASK_EVERY_NS = 500_000_000n;
/** A segment that failed is reopened at most this often. */
const RETRY_EVERY_NS = 1_000_000_000n;
/** Reading one that fails again and again takes at most this part of the time. */
const RETRY_SHARE = 20n;
/** No rest is longer, however long it took to read. */
const MAX_REST_NS = 120_000_000_000n;
const within = (ns: bigint, least: bigint, most: bigint): bigint =>
  ns < least ? least : ns > most ? most : ns;
/** Records that are read before others have their turn. */
const SLICE = {
  steps: SYNC_STEPS,
  ms: SLICE_MS,
  leastSteps: SYNC_STEPS / 16,
  stepsPerClockRead: 32,
};

interface OpenedSegment {
  readonly file: SegmentFile;
  readonly header: SegmentHeader;
  readonly source: SegmentSource;
  /** Undefined until it is known whether the publisher runs. */
  process: PublisherProcess | undefined;
  askedAtNs: bigint;
  /** Undefined until the first answer. */
  isLocked: boolean | undefined;
  nameHolder: NameHolder;
  readonly lastBeat: HeartbeatClock;
  /** Epoch and records of the directory, as far as they are read. */
  epoch: number;
  records: number;
}

export interface WatchedPool {
  readonly contextId: string;
  readonly poolName: string;
  /** How long a stalled publisher is served; without limit by default and with 0. */
  readonly stalledAfterSeconds?: number | undefined;
  /** Users whose segments are read, beside root and that of this process; with none, all are. */
  readonly trustedOwners?: readonly number[] | undefined;
  /** The most objects and variables of a segment; `MAX_ITEMS` by default. */
  readonly segmentMaxItems?: number | undefined;
  /** Nanoseconds of the clock of heartbeats; by default the system's, CLOCK_MONOTONIC. */
  readonly nowNs?: (() => bigint) | undefined;
}

/** Watches the segments of one pool, each by its server key. */
export const segmentWatches =
  (
    memory: SharedMemory,
    {
      contextId,
      poolName,
      stalledAfterSeconds = 0,
      trustedOwners = [],
      segmentMaxItems: maxItems,
      nowNs,
    }: WatchedPool,
  ) =>
  (serverKey: string): SegmentWatch =>
    new SegmentWatch(memory, segmentName(contextId, poolName, serverKey), serverKey, {
      stalledForNs: BigInt(stalledAfterSeconds) * 1_000_000_000n,
      slice: () => new Budget(SLICE),
      maxItems,
      ...(nowNs && { now: nowNs }),
      ...(trustedOwners.length > 0 && { trusted: [0, getuid?.() ?? 0, ...trustedOwners] }),
    });

export interface WatchOptions {
  /** CLOCK_MONOTONIC in ns, the clock of heartbeats. */
  readonly now?: () => bigint;
  /** How long a stalled publisher is served; 0 for no limit. */
  readonly stalledForNs?: bigint;
  /** Ids of the users whose segments are read; undefined for all. */
  readonly trusted?: readonly number[];
  /** What one look may take; by default `SYNC_STEPS`. */
  readonly slice?: () => Budget;
  readonly maxItems?: number | undefined;
}

export class SegmentWatch implements Watch {
  readonly #memory: SharedMemory;
  readonly #name: string;
  readonly #serverKey: string;
  readonly #now: () => bigint;
  readonly #stalledForNs: bigint;
  readonly #trusted: readonly number[] | undefined;
  readonly #slice: (() => Budget) | undefined;
  readonly #maxItems: number | undefined;
  #opened: OpenedSegment | undefined;
  /** Why the last segment could not be read, until another verdict is reached. */
  #failure: Verdict | undefined;
  /** The verdict on the last segment that ended, valid until the next one is judged. */
  #ended: Verdict | undefined;
  #retryAtNs = 0n;
  /** Time spent on reading the open segment, less what `#forgive` took off. */
  #spentNs = 0n;
  /** When the last look began. */
  #lookedNs = 0n;

  constructor(
    memory: SharedMemory,
    name: string,
    serverKey: string,
    { now = () => hrtime.bigint(), stalledForNs = 0n, trusted, slice, maxItems }: WatchOptions = {},
  ) {
    this.#memory = memory;
    this.#name = name;
    this.#serverKey = serverKey;
    this.#now = now;
    this.#stalledForNs = stalledForNs;
    this.#trusted = trusted;
    this.#slice = slice;
    this.#maxItems = maxItems;
  }

  /** One bounded read; never throws, whatever the segment contains. */
  poll(): PollResult {
    const nowNs = this.#now();
    this.#forgive(nowNs);
    try {
      const pollResult = this.#lookAt(nowNs) ?? this.#nothing(absent(this.#name));
      if (pollResult.hasMore) this.#spentNs += this.#now() - nowNs;
      return pollResult;
    } catch (error) {
      const endNs = this.#now();
      const restNs = (this.#spentNs + endNs - nowNs) * RETRY_SHARE;
      this.close();
      this.#retryAtNs = endNs + within(restNs, RETRY_EVERY_NS, MAX_REST_NS);
      this.#failure = failure(error);
      return this.#nothing(this.#failure);
    }
  }

  /**
   * Calls back once when the tick changes, if the system supports it; returns a function that ends
   * the wait.
   */
  wait(tick: number, moved: () => void): () => void {
    const { file } = this.#opened ?? {};
    return file?.wait(MUTABLE_OFFSET + MUTABLE.tick, tick, moved) ?? (() => undefined);
  }

  existing(): Existing {
    return { name: this.#name, names: segmentNames() };
  }

  close(): void {
    this.#opened?.file.close();
    this.#opened = undefined;
    this.#spentNs = 0n;
  }

  /** Takes off what may be spent in the time since the last look: a segment that is good for long needs no rest. */
  #forgive(nowNs: bigint): void {
    const left = this.#spentNs - (nowNs - this.#lookedNs) / RETRY_SHARE;
    this.#lookedNs = nowNs;
    this.#spentNs = left > 0n ? left : 0n;
  }

  #lookAt(nowNs: bigint): PollResult | undefined {
    if (this.#failure !== undefined && nowNs < this.#retryAtNs) return this.#nothing(this.#failure);
    const opened = (this.#opened ??= this.#open());
    if (opened === undefined) {
      this.#failure = undefined;
      return undefined;
    }
    const words = readWords(opened.file, opened.header);
    this.#ask(opened, nowNs, words);
    if (opened.isLocked === undefined)
      return this.#nothing(this.#failure ?? this.#ended ?? NOT_KNOWN_YET);
    const { isLocked, nameHolder } = opened;
    const { heartbeatPeriodNs } = opened.header;
    const { state, tick } = words;
    const heartbeatNs = opened.lastBeat.at(words.heartbeatNs, nowNs);
    const { publisher, isServed } = judge(
      { state, nameHolder, isLocked, heartbeatNs, heartbeatPeriodNs, nowNs },
      this.#stalledForNs,
    );
    const process = (opened.process ??= processOf(opened.header, opened.file, isLocked));
    if (!isServed) return { ...this.#unserved(publisher, tick), process };
    this.#ended = undefined;
    const taken = takeIn(opened, words, this.#slice?.());
    const { changes, hasMore, isReclaiming, isUnstable } = taken;
    if (!hasMore) this.#failure = undefined;
    return {
      serverKey: this.#serverKey,
      // A segment that failed is read from its beginning at each retry, and may fail again at its end.
      publisher: this.#failure ?? publisher,
      process,
      source: opened.source,
      changes,
      hasMore,
      isReclaiming,
      isUnstable,
      tick,
      drops: { objects: words.objectsDropped, variables: words.variablesDropped },
    };
  }

  #unserved(publisher: Verdict, tick: number): PollResult {
    const isStalled = publisher.state === 'stalled';
    this.#failure = undefined;
    this.#ended = isStalled ? undefined : publisher;
    // A stalled publisher may resume at any moment: its segment stays open, with everything read so
    // far.
    if (isStalled) return { ...this.#nothing(publisher), tick };
    // Closed for good or replaced: the next read starts with the segment that has the name then.
    this.close();
    return this.#nothing(publisher);
  }

  #open(): OpenedSegment | undefined {
    const file = this.#memory.open(this.#name);
    if (file === undefined) return undefined;
    try {
      this.#checkOwnership(file);
      const header = readHeader(file);
      const source = new SegmentSource(file, header, this.#maxItems);
      const unasked = { askedAtNs: 0n, isLocked: undefined, nameHolder: 'this' } as const;
      const unseen = { lastBeat: new HeartbeatClock(), epoch: -1, records: 0 };
      return { file, header, source, process: undefined, ...unasked, ...unseen };
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** @throws Fault NATIVE_FAILED for a segment that somebody may have written who is not trusted */
  #checkOwnership({ ownership: { uid, isWritableByAll } }: SegmentFile): void {
    if (this.#trusted === undefined) return;
    const refuse = (why: string) =>
      new Fault('NATIVE_FAILED', `Segment ${this.#name} ${why}, and trusted_owners is set`);
    if (!this.#trusted.includes(uid)) throw refuse(`belongs to user ${uid}, who is not trusted`);
    if (isWritableByAll) throw refuse('may be written by everybody');
  }

  #ask(opened: OpenedSegment, nowNs: bigint, words: SegmentWords): void {
    const isQuiet = words.state !== 1;
    if (!isQuiet && opened.askedAtNs !== 0n && nowNs - opened.askedAtNs < ASK_EVERY_NS) return;
    opened.askedAtNs = nowNs;
    opened.file.askLock((isLocked) => {
      opened.isLocked = isLocked;
    });
    opened.nameHolder = opened.file.nameHolder();
    if (opened.nameHolder === 'this') checkSize(opened.file, opened.header);
  }

  #nothing(publisher: Verdict): PollResult {
    return nothingSeen(this.#serverKey, publisher);
  }
}

/** Reads new directory records; if the directory did not change, it reads nothing more. */
function takeIn(
  opened: OpenedSegment,
  { epoch, records }: SegmentWords,
  budget?: Budget,
): StructureChanges & Pick<PollResult, 'isUnstable'> {
  if (opened.epoch === epoch && opened.records === records) return { changes: [], hasMore: false };
  try {
    const taken = opened.source.sync(budget);
    if (!taken.hasMore && taken.isReclaiming !== true)
      [opened.epoch, opened.records] = [epoch, records];
    return taken;
  } catch (error) {
    // A directory that changes too fast does not make the segment invalid: the next read tries
    // again.
    if (error instanceof Fault && error.code === 'SEGMENT_RESTLESS')
      return { changes: [], hasMore: true, isUnstable: true };
    throw error;
  }
}

const NOT_KNOWN_YET: Verdict = {
  state: 'building',
  reason: 'the system has not said yet whether its publisher is running',
};

const absent = (name: string): Verdict => ({
  state: 'absent',
  reason: `no segment ${name} in shared memory`,
});

function failure(error: unknown): Verdict {
  const reason = messageOf(error);
  // A refused system call says nothing about the segment itself.
  if (isSystemError(error) || (error instanceof Fault && error.code === 'NATIVE_FAILED'))
    return { state: 'absent', reason };
  if (error instanceof Fault && error.code === 'SEGMENT_INCOMPATIBLE')
    return { state: 'incompatible', reason };
  return { state: 'corrupt', reason };
}
