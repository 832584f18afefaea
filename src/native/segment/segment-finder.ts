// Finds the segments of a pool whose server keys match patterns, and the roots in them.
import { Budget } from '../../budget.js';
import { Fault, messageOf } from '../../errors.js';
import { CLOCKS, CachedRead, namesIn } from '../../foreign/directory-listing.js';
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
}

/** An open segment. */
interface FollowedSegment {
  readonly file: SegmentFile;
  /** Undefined if the segment cannot be read. */
  readonly scan: RootScan | undefined;
  /** Why the segment cannot be read; empty if it can. It stays until another file has the name. */
  failure: string;
}

/** The number of records that one step scans. */
const STEP_RECORDS = 1024;

export class SegmentFinder implements Finder {
  readonly #memory: SharedMemory;
  readonly #options: FinderOptions;
  readonly #patterns: readonly string[];
  readonly #most: number;
  readonly #listing: CachedRead<readonly string[]>;
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
    this.#patterns = patterns;
    this.#most = most;
    this.#listing = new CachedRead(SHM_FOLDER, () => namesIn(SHM_FOLDER), CLOCKS);
  }

  *find(): Generator<void, Found> {
    const targets: FoundTarget[] = [];
    const leftOut: string[] = [];
    const keys = this.#keys(leftOut);
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
        targets.push({
          app: identityOf(root).application,
          serverKey: key,
          instance: root.name,
          file: segment.file.identity,
        });
    }
    return { targets, leftOut };
  }

  close(): void {
    for (const key of [...this.#segments.keys()]) this.#forget(key);
  }

  /** The matching server keys of the pool, up to the limit. Followed segments come first, so that new ones cannot displace them. */
  #keys(leftOut: string[]): readonly string[] {
    const prefix = this.#nameOf('');
    const keys = (this.#names() ?? [])
      .filter((each) => each.startsWith(prefix))
      .map((each) => each.slice(prefix.length))
      .filter((key) => isServerKey(key) && this.#patterns.some((each) => matchesName(key, each)))
      .sort();
    const isKnown = (key: string) => Number(this.#segments.has(key));
    keys.sort((one, other) => isKnown(other) - isKnown(one));
    for (const key of keys.slice(this.#most))
      leftOut.push(`segment ${this.#nameOf(key)}: max_targets is ${this.#most}`);
    return keys.slice(0, this.#most);
  }

  #names(): readonly string[] | undefined {
    try {
      return this.#listing.now();
    } catch {
      return undefined;
    }
  }

  #nameOf(key: string): string {
    const { contextId, poolName } = this.#options;
    return segmentName(contextId, poolName, key);
  }

  /** The open segment of a server key; undefined if there is none, or if it cannot be opened. */
  #follow(key: string, leftOut: string[]): FollowedSegment | undefined {
    const known = this.#segments.get(key);
    if (known?.file.nameState() === 'kept') return known;
    this.#forget(key);
    try {
      const file = this.#memory.open(this.#nameOf(key));
      if (file === undefined) return undefined;
      const segment = followed(file, this.#nameOf(key), this.#options.trustedOwners);
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
    return { file, scan: new RootScan(file, readHeader(file)), failure: '' };
  } catch (error) {
    return { file, scan: undefined, failure: messageOf(error) };
  }
}
