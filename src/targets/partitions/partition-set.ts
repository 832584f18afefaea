// The partitions of the process, each made at its first use.
import { kernelCode } from '../../exposition/wasm/kernel.js';
import type { SharedMemory } from '../../native/os/shared-memory.js';
import { Scheduler } from '../../streams/scheduler.js';
import { pollerPools } from '../../streams/poller-pool.js';
import { formatPollers } from '../formats.js';
import type { PoolSettings } from '../formats.js';
import { ThreadedPartition, partitionThreads } from '../threads/threaded-partition.js';
import { CatalogueCache } from '../../catalogue/builtin.js';
import { LogicalPartition } from './logical-partition.js';
import type { Partition } from './logical-partition.js';

export interface PartitionSettings extends PoolSettings {
  readonly workerExecutionMode: 'logical' | 'threaded';
}

export class PartitionSet {
  readonly #make: (number: number) => Partition;
  readonly #made = new Map<number, Partition>();

  /** @param threadFile the file with the code of partition threads; by default `thread.js` beside this code */
  constructor(
    settings: PartitionSettings,
    memory: SharedMemory,
    nowMs: () => number,
    threadFile?: URL,
  ) {
    const { workerExecutionMode, contextId, poolName } = settings;
    const { stalledAfterSeconds, trustedOwners, segmentMaxItems } = settings;
    // Copy only the fields that partitions need, since the object is sent to threads.
    const bounds = { stalledAfterSeconds, trustedOwners, segmentMaxItems };
    const pool: PoolSettings = { contextId, poolName, ...bounds };
    const formats = formatPollers({ memory, ...pool });
    const tasks = new Scheduler();
    const pools = pollerPools(formats, { nowMs, tasks });
    const thread = { pools, catalogues: new CatalogueCache(), nowMs, tasks };
    const isThreaded = workerExecutionMode === 'threaded';
    if (isThreaded) {
      const start = partitionThreads(threadFile);
      const setup = { ...pool, kernel: kernelCode() };
      this.#make = (number) => new ThreadedPartition({ number, ...setup }, memory, start);
    } else this.#make = (number) => new LogicalPartition(number, thread);
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
