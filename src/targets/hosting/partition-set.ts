// The partitions of the process, made when they are first asked for.
import { segmentWatches } from '../../native/segment/segment-watch.js';
import type { SharedMemory } from '../../native/os/shared-memory.js';
import { ServerPool } from '../../streams/server-pool.js';
import { CatalogueShelf } from './catalogue-shelf.js';
import { LogicalPartition } from './logical-partition.js';
import type { Partition } from './partition.js';
import { ThreadedPartition } from '../threads/threaded-partition.js';

export interface PartitionSettings {
  readonly workerExecutionMode: 'logical' | 'threaded';
  readonly contextId: string;
  readonly poolName: string;
  readonly stalledAfterSeconds?: number;
}

export class PartitionSet {
  readonly #make: (number: number) => Partition;
  readonly #made = new Map<number, Partition>();

  constructor(settings: PartitionSettings, memory: SharedMemory, nowMs: () => number) {
    const { contextId, poolName, stalledAfterSeconds, workerExecutionMode } = settings;
    // Partitions of one thread look at a segment together.
    const pool = new ServerPool({ watch: segmentWatches(memory, settings), nowMs });
    const thread = { pool, shelf: new CatalogueShelf(), nowMs };
    this.#make = (number) =>
      workerExecutionMode === 'threaded'
        ? new ThreadedPartition({ number, contextId, poolName, stalledAfterSeconds }, memory)
        : new LogicalPartition(number, thread);
  }

  get(number: number): Partition {
    const partition = this.#made.get(number) ?? this.#make(number);
    this.#made.set(number, partition);
    return partition;
  }

  /** Ends the threads; the targets must have ended before. */
  close(): void {
    for (const partition of this.#made.values()) partition.close();
    this.#made.clear();
  }
}
