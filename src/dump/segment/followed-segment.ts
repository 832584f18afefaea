// The segment of a name, and the next one that gets this name, for somebody who watches.
import { Fault } from '../../errors.js';
import { SHM_FOLDER } from '../../native/os/readable-file.js';
import type { SharedMemory } from '../../native/os/shared-memory.js';
import { segmentNames } from '../../native/segment/segment-names.js';
import { existingText } from '../../shown/existing-names.js';
import { TreeReading } from '../tree/tree-reading.js';
import { SeenSegment } from './seen-segment.js';
import type { SegmentFacts } from './seen-segment.js';

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
