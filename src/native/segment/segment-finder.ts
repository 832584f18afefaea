// Finds the segments of a pool whose server keys match patterns, and the roots in them.
import { Budget } from '../../budget.js';
import { Fault, messageOf } from '../../errors.js';
import { CLOCKS, CachedRead, namesIn } from '../../foreign/directory-listing.js';
import { pluralize } from '../../pluralize.js';
import { isServerKey, matchesName } from '../../rules/formats.js';
import { identityOf } from '../../streams/choose-root.js';
import type { Finder, Found, FoundTarget } from '../../streams/poller.js';
import { SHM_FOLDER } from '../os/shared-memory.js';
import type { SegmentFile, SharedMemory } from '../os/shared-memory.js';
import { segmentName } from './layout.js';
import { RootScan } from './root-scan.js';
import { readHeader } from './segment-header.js';
import { checkOwnership } from './segment-poller.js';

interface FinderOptions {
  readonly contextId: string;
  readonly poolName: string;
  readonly trustedOwners?: readonly number[] | undefined;
  /** Milliseconds of a monotonic clock; by default CLOCK_MONOTONIC. */
  readonly nowMs?: () => number;
  /** Lists the matching server keys; by default those with a file in /dev/shm. */
  readonly list?: () => readonly string[];
}

/** An open segment. */
interface FollowedSegment {
  readonly file: SegmentFile;
  /** Undefined if the segment cannot be read. */
  readonly scan: RootScan | undefined;
  /** Why the segment cannot be read; empty if it can. */
  failure: string;
  /** When a segment that cannot be read is opened again; Infinity before the first failure. */
  retryAtMs: number;
}

/**
 * Lists the server keys of the segments of a pool that match patterns, sorted.
 * @param patterns as `matchesName` reads them
 */
export function serverKeyListing(
  { contextId, poolName }: Pick<FinderOptions, 'contextId' | 'poolName'>,
  patterns: readonly string[],
): CachedRead<readonly string[]> {
  const prefix = segmentName(contextId, poolName, '');
  const isWanted = (key: string) =>
    isServerKey(key) && patterns.some((pattern) => matchesName(key, pattern));
  const read = () =>
    namesIn(SHM_FOLDER)
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .filter(isWanted)
      .sort();
  return new CachedRead(SHM_FOLDER, read, CLOCKS);
}

/** The time before a segment that cannot be read is opened again. */
const RETRY_MS = 10_000;
/** The number of records that one step scans. */
const STEP_RECORDS = 1024;

export class SegmentFinder implements Finder {
  readonly #memory: SharedMemory;
  readonly #options: FinderOptions;
  readonly #most: number;
  readonly #nowMs: () => number;
  /** The server keys of all segments of the pool that match the patterns. */
  readonly #list: () => readonly string[];
  /** The followed segments by server key. */
  readonly #segments = new Map<string, FollowedSegment>();

  /**
   * @param patterns of server keys, as `matchesName` reads them
   * @param most the maximum number of segments to follow; each has an open file
   */
  constructor(
    memory: SharedMemory,
    options: FinderOptions,
    patterns: readonly string[],
    most: number,
  ) {
    this.#memory = memory;
    this.#options = options;
    this.#most = most;
    this.#nowMs = options.nowMs ?? CLOCKS.nowMs;
    const listing = serverKeyListing(options, patterns);
    this.#list = options.list ?? (() => listing.now() ?? []);
  }

  *find(forgotten: ReadonlySet<string>): Generator<void, Found> {
    const targets: FoundTarget[] = [];
    const leftOut: string[] = [];
    const keys = this.#keys(forgotten, leftOut);
    let surplus = 0;
    const gone = [...this.#segments.keys()].filter((key) => !keys.includes(key));
    for (const key of gone) this.#forget(key);
    for (const key of keys) {
      const segment = this.#follow(key, leftOut);
      yield;
      if (segment === undefined) continue;
      yield* this.#scan(segment);
      const name = this.#nameOf(key);
      if (segment.failure !== '') leftOut.push(`segment ${name}: ${segment.failure}`);
      for (const root of segment.scan?.roots ?? [])
        if (targets.length >= this.#most) surplus++;
        else
          targets.push({
            app: identityOf(root).application,
            serverKey: key,
            instance: root.name,
            file: segment.file.identity,
          });
    }
    if (surplus > 0) leftOut.push(`${pluralize(surplus, 'root')}: max_targets is ${this.#most}`);
    return { targets, leftOut };
  }

  close(): void {
    for (const key of [...this.#segments.keys()]) this.#forget(key);
  }

  /**
   * The matching server keys of the pool, up to the limit. Followed segments come first, so that new ones and their
   * roots cannot displace them. Segments of forgotten targets come last.
   */
  #keys(forgotten: ReadonlySet<string>, leftOut: string[]): readonly string[] {
    const rank = (key: string) => (forgotten.has(key) ? 2 : this.#segments.has(key) ? 0 : 1);
    const keys = this.#matching(leftOut).toSorted((one, other) => rank(one) - rank(other));
    if (keys.length <= this.#most) return keys;
    const first = this.#nameOf(keys[this.#most] ?? '');
    const count = pluralize(keys.length - this.#most, 'segment');
    leftOut.push(`${count} such as ${first}: max_targets is ${this.#most}`);
    return keys.slice(0, this.#most);
  }

  #matching(leftOut: string[]): readonly string[] {
    try {
      return this.#list();
    } catch (error) {
      // Such as too many open files. The segments that are open still exist, as far as is known.
      leftOut.push(`new segments: ${SHM_FOLDER} cannot be read: ${messageOf(error)}`);
      return [...this.#segments.keys()];
    }
  }

  #nameOf(key: string): string {
    const { contextId, poolName } = this.#options;
    return segmentName(contextId, poolName, key);
  }

  /** The open segment of a server key; undefined if there is none, or if it cannot be opened. */
  #follow(key: string, leftOut: string[]): FollowedSegment | undefined {
    try {
      const known = this.#segments.get(key);
      const isKept = known?.file.nameState() === 'kept';
      if (isKept && this.#nowMs() < known.retryAtMs) return known;
      this.#forget(key);
      const file = this.#memory.open(this.#nameOf(key));
      if (file === undefined) return undefined;
      const segment = followed(file, this.#nameOf(key), this.#options.trustedOwners);
      if (segment.failure !== '') segment.retryAtMs = this.#nowMs() + RETRY_MS;
      this.#segments.set(key, segment);
      return segment;
    } catch (error) {
      leftOut.push(messageOf(error));
      return undefined;
    }
  }

  /** Reads the new records of a segment. */
  *#scan(segment: FollowedSegment): Generator<void, void> {
    try {
      while (segment.failure === '' && segment.scan?.update(new Budget({ steps: STEP_RECORDS })))
        yield;
    } catch (error) {
      // A directory that changes too fast is read at the next pass.
      if (error instanceof Fault && error.code === 'SEGMENT_UNSTABLE') return;
      segment.failure = messageOf(error);
      segment.retryAtMs = this.#nowMs() + RETRY_MS;
    }
  }

  #forget(key: string): void {
    this.#segments.get(key)?.file.close();
    this.#segments.delete(key);
  }
}

function followed(
  file: SegmentFile,
  name: string,
  trustedOwners?: readonly number[],
): FollowedSegment {
  try {
    checkOwnership(name, file, trustedOwners);
    const scan = new RootScan(file, readHeader(file));
    return { file, scan, failure: '', retryAtMs: Infinity };
  } catch (error) {
    return { file, scan: undefined, failure: messageOf(error), retryAtMs: Infinity };
  }
}
