// Reads a segment, and follows its name to the segment of the next publisher.
import { Fault, prefixFault } from '../../errors.js';
import type { PublisherProcess, Source, Verdict } from '../../model.js';
import { SHM_FOLDER } from '../../native/os/shared-memory.js';
import type { SegmentFile, SharedMemory } from '../../native/os/shared-memory.js';
import { LIMITS } from '../../native/segment/layout.js';
import { HeartbeatClock, judge, processOf } from '../../native/segment/liveness.js';
import {
  checkSize,
  readHeader,
  readMutableFields,
  segmentNames,
} from '../../native/segment/segment-header.js';
import type { SegmentHeader } from '../../native/segment/segment-header.js';
import { SegmentSource } from '../../native/segment/segment-source.js';
import { existingText } from '../../shown/shown-text.js';
import { TreeReading } from '../tree/tree-items.js';

const { hrtime } = process;

/** The time limit for reading a tree whose structure keeps changing. */
const TIMEOUT_NS = 10_000_000_000n;
const PAUSE_MS = 20;

/** The state of a segment, without its tree. */
export interface SegmentStatus {
  readonly name: string;
  /** The generation number in hexadecimal digits. */
  readonly generation: string;
  readonly publisher: Verdict;
  readonly process: PublisherProcess;
  /** Seconds since the last heartbeat; undefined for a publisher without heartbeats. */
  readonly heartbeatAge: number | undefined;
  /** The numbers of items that did not fit into the segment. */
  readonly drops: { readonly objects: number; readonly variables: number };
}

class OpenSegment {
  readonly #name: string;
  readonly #file: SegmentFile;
  readonly #header: SegmentHeader;
  readonly #source: SegmentSource;
  readonly #lastBeat = new HeartbeatClock();

  /**
   * Opens a segment by name; returns undefined if the segment does not exist.
   * @throws Fault if the segment cannot be read; the message begins with its name
   */
  static open(memory: SharedMemory, name: string): OpenSegment | undefined {
    const file = memory.open(name);
    return file && new OpenSegment(file, name);
  }

  private constructor(file: SegmentFile, name: string) {
    this.#name = name;
    this.#file = file;
    this.#header = prefixFault(this.#name, () => headerOf(file));
    this.#source = new SegmentSource(file, this.#header, LIMITS.records);
  }

  /**
   * The current tree.
   * @throws Fault SEGMENT_CORRUPT, or SEGMENT_UNSTABLE if the tree changes too fast to be read
   */
  tree(): Source {
    const end = hrtime.bigint() + TIMEOUT_NS;
    prefixFault(this.#name, () => {
      checkSize(this.#file, this.#header);
      while (this.#readChanges(end));
    });
    return this.#source;
  }

  status(): SegmentStatus {
    const words = prefixFault(this.#name, () => readMutableFields(this.#file, this.#header));
    const { heartbeatPeriodNs } = this.#header;
    const { state, objectsDropped, variablesDropped } = words;
    let isLocked = false;
    this.#file.askLock((answer) => {
      isLocked = answer;
    });
    const nowNs = hrtime.bigint();
    const heartbeatNs = this.#lastBeat.at(words.heartbeatNs, nowNs);
    const nameState = this.#file.nameState();
    const facts = { state, nameState, isLocked, heartbeatNs, heartbeatPeriodNs, nowNs };
    const heartbeatAge = Number(nowNs - heartbeatNs) / 1e9;
    return {
      name: this.#name,
      generation: this.#source.generation,
      publisher: judge(facts).publisher,
      process: processOf(this.#header, this.#file, isLocked),
      heartbeatAge: heartbeatPeriodNs === 0n ? undefined : heartbeatAge,
      drops: { objects: objectsDropped, variables: variablesDropped },
    };
  }

  close(): void {
    this.#file.close();
  }

  /** Reads the next changes. Returns whether there may be more. */
  #readChanges(endNs: bigint): boolean {
    try {
      const { hasMore, isReclaiming } = this.#source.readChanges();
      if (hasMore && hrtime.bigint() > endNs)
        throw new Fault('SEGMENT_UNSTABLE', 'its directory grows faster than it can be read');
      return hasMore || isReclaiming === true;
    } catch (error) {
      const isUnstable = error instanceof Fault && error.code === 'SEGMENT_UNSTABLE';
      if (!isUnstable || hrtime.bigint() > endNs) throw error;
      // Blocking is safe: the program does nothing else.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      return true;
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

export interface SegmentReading {
  readonly status: SegmentStatus;
  readonly reading: TreeReading;
}

/** The fault for a missing segment. Its message lists the existing segments. */
function absence(name: string): Fault {
  const names = segmentNames();
  const pool = name.slice(0, name.lastIndexOf('.') + 1);
  const isOtherPool = names.length > 0 && !names.some((each) => each.startsWith(pool));
  const hint = isOtherPool
    ? '; --context-id and --pool-name set the start of the name, before the server key'
    : '';
  const existing = existingText(name, names);
  return new Fault('NATIVE_FAILED', `no segment ${name} in ${SHM_FOLDER}${existing}${hint}`);
}

export class FollowedSegment {
  readonly #memory: SharedMemory;
  readonly #name: string;
  #segment: OpenSegment;

  /** @throws Fault if the segment does not exist or cannot be read */
  constructor(memory: SharedMemory, name: string) {
    this.#memory = memory;
    this.#name = name;
    const segment = OpenSegment.open(memory, name);
    if (segment === undefined) throw absence(name);
    this.#segment = segment;
  }

  /** Reads the segment. After the publisher has ended, returns the last values until a new publisher starts. */
  read(): SegmentReading {
    let status = this.#segment.status();
    const { state } = status.publisher;
    const isRunning = state === 'live' || state === 'stalled';
    if (!isRunning && this.#switchToNext(status.generation)) status = this.#segment.status();
    return { status, reading: new TreeReading(this.#segment.tree()) };
  }

  close(): void {
    this.#segment.close();
  }

  /** Switches to the segment that now has the name, if that segment is readable and its generation differs. */
  #switchToNext(generation: string): boolean {
    try {
      const next = OpenSegment.open(this.#memory, this.#name);
      const isOther = next !== undefined && next.status().generation !== generation;
      (isOther ? this.#segment : next)?.close();
      if (isOther) this.#segment = next;
      return isOther;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return false;
    }
  }
}
