// One segment, open for reading, and the next one that gets its name.
import { hrtime } from 'node:process';
import { Fault, messageOf } from '../../errors.js';
import type { PublisherProcess, Source, Verdict } from '../../model.js';
import { SHM_FOLDER } from '../../native/os/shared-memory.js';
import type { SegmentFile, SharedMemory } from '../../native/os/shared-memory.js';
import { LIMITS } from '../../native/segment/layout.js';
import { HeartbeatClock, judge, processOf } from '../../native/segment/liveness.js';
import {
  checkSize,
  readHeader,
  readWords,
  segmentNames,
} from '../../native/segment/segment-header.js';
import type { SegmentHeader } from '../../native/segment/segment-header.js';
import { SegmentSource } from '../../native/segment/segment-source.js';
import { existingText } from '../../shown/shown-text.js';
import { TreeReading } from '../tree/tree-items.js';

/** How long a structure may change faster than it can be read. */
const PATIENCE_NS = 10_000_000_000n;
/** Until the next try. */
const PAUSE_MS = 20;

/** What a segment says beside its tree. */
export interface SegmentFacts {
  readonly name: string;
  /** In hexadecimal digits. */
  readonly generation: string;
  readonly publisher: Verdict;
  readonly process: PublisherProcess;
  /** Seconds since the last heartbeat; undefined where it has none. */
  readonly heartbeatAge: number | undefined;
  /** What the publisher had no room for. */
  readonly drops: { readonly objects: number; readonly variables: number };
}

class SeenSegment {
  readonly #name: string;
  readonly #file: SegmentFile;
  readonly #header: SegmentHeader;
  readonly #source: SegmentSource;
  readonly #lastBeat = new HeartbeatClock();
  readonly #now: () => bigint;

  /**
   * The segment of that name; undefined if there is none.
   * @throws Fault, with the name, if it cannot be read
   */
  static open(memory: SharedMemory, name: string): SeenSegment | undefined {
    const file = memory.open(name);
    return file && new SeenSegment(file, name);
  }

  private constructor(file: SegmentFile, name: string, now = () => hrtime.bigint()) {
    this.#name = name;
    this.#now = now;
    this.#file = file;
    this.#header = this.#naming(() => headerOf(file));
    this.#source = new SegmentSource(file, this.#header, LIMITS.records);
  }

  /**
   * The tree as it is now.
   * @throws Fault SEGMENT_CORRUPT, or SEGMENT_RESTLESS if it never stands still
   */
  tree(): Source {
    const end = this.#now() + PATIENCE_NS;
    this.#naming(() => {
      checkSize(this.#file, this.#header);
      while (this.#readOn(end));
    });
    return this.#source;
  }

  facts(): SegmentFacts {
    const words = this.#naming(() => readWords(this.#file, this.#header));
    const { heartbeatPeriodNs } = this.#header;
    const { state, objectsDropped, variablesDropped } = words;
    let isLocked = false;
    this.#file.askLock((answer) => {
      isLocked = answer;
    });
    const nowNs = this.#now();
    const heartbeatNs = this.#lastBeat.at(words.heartbeatNs, nowNs);
    const nameHolder = this.#file.nameHolder();
    const evidence = { state, nameHolder, isLocked, heartbeatNs, heartbeatPeriodNs, nowNs };
    const heartbeatAge = Number(nowNs - heartbeatNs) / 1e9;
    return {
      name: this.#name,
      generation: this.#source.generation,
      publisher: judge(evidence).publisher,
      process: processOf(this.#header, this.#file, isLocked),
      heartbeatAge: heartbeatPeriodNs === 0n ? undefined : heartbeatAge,
      drops: { objects: objectsDropped, variables: variablesDropped },
    };
  }

  close(): void {
    this.#file.close();
  }

  /** Takes in the next changes; false once there are none. */
  #readOn(endNs: bigint): boolean {
    try {
      const { hasMore, isReclaiming } = this.#source.sync();
      if (hasMore && this.#now() > endNs)
        throw new Fault('SEGMENT_RESTLESS', 'its structure grows faster than it can be read');
      return hasMore || isReclaiming === true;
    } catch (error) {
      const isUnstable = error instanceof Fault && error.code === 'SEGMENT_RESTLESS';
      if (!isUnstable || this.#now() > endNs) throw error;
      // Nothing else waits for this process.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      return true;
    }
  }

  /** What `read` gives; its faults say which segment they are about. */
  #naming<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault(error.code, `${this.#name}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function headerOf(file: SegmentFile): SegmentHeader {
  try {
    return readHeader(file);
  } catch (error) {
    file.close();
    throw error;
  }
}

/** What a segment holds at one moment. */
export interface Glance {
  readonly facts: SegmentFacts;
  readonly reading: TreeReading;
}

/** Why there is nothing to show under this name, and what there is. */
function absence(name: string): Fault {
  const names = segmentNames();
  const pool = name.slice(0, name.lastIndexOf('.') + 1);
  const isOtherPool = names.length > 0 && !names.some((each) => each.startsWith(pool));
  const hint = isOtherPool ? '; --context-id and --pool-name say what is before the key' : '';
  const existing = existingText(name, names);
  return new Fault('NATIVE_FAILED', `no segment ${name} in ${SHM_FOLDER}${existing}${hint}`);
}

export class FollowedSegment {
  readonly #memory: SharedMemory;
  readonly #name: string;
  #segment: SeenSegment;

  /** @throws Fault if there is none, or none that can be read */
  constructor(memory: SharedMemory, name: string) {
    this.#memory = memory;
    this.#name = name;
    const segment = SeenSegment.open(memory, name);
    if (segment === undefined) throw absence(name);
    this.#segment = segment;
  }

  /** The last values of a publisher that is gone, until another has published. */
  look(): Glance {
    const facts = this.#segment.facts();
    const { state } = facts.publisher;
    if (state === 'live' || state === 'stalled' || !this.#takeNext(facts.generation))
      return this.#glance(facts);
    return this.#glance(this.#segment.facts());
  }

  close(): void {
    this.#segment.close();
  }

  #glance(facts: SegmentFacts): Glance {
    return { facts, reading: new TreeReading(this.#segment.tree()) };
  }

  /** Goes over to the segment that has the name now, if it is of another generation and can be read. */
  #takeNext(generation: string): boolean {
    try {
      const next = SeenSegment.open(this.#memory, this.#name);
      const isOther = next !== undefined && next.facts().generation !== generation;
      (isOther ? this.#segment : next)?.close();
      if (isOther) this.#segment = next;
      return isOther;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return false;
    }
  }
}
