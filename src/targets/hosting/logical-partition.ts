// A partition in the thread that it was made in: a queue, and memory of its own.
import { Kernel } from '../../exposition/wasm/kernel.js';
import type { FormerRoot } from '../../streams/choose-root.js';
import { RefreshQueue } from '../../streams/refresh-queue.js';
import type { TargetDefinition } from '../formats.js';
import { hostTarget } from './host-target.js';
import type { Workplace } from './host-target.js';
import type { HostedTarget, Partition } from './partition.js';

export class LogicalPartition implements Partition {
  readonly number: number;
  readonly #thread: Omit<Workplace, 'queue' | 'kernel'>;
  readonly #queue: RefreshQueue;
  readonly #makeKernel: () => Kernel;
  #kernel: Kernel | undefined;

  /** @param thread what all partitions of the thread share */
  constructor(
    number: number,
    thread: Omit<Workplace, 'queue' | 'kernel'>,
    queue = new RefreshQueue(thread.tasks, thread.nowMs),
    makeKernel = (): Kernel => new Kernel(),
  ) {
    this.number = number;
    this.#thread = thread;
    this.#queue = queue;
    this.#makeKernel = makeKernel;
  }

  host(definition: TargetDefinition, former?: FormerRoot): HostedTarget {
    // Made when a target runs: a partition without memory fails its targets, not those who host them.
    const kernel = () => (this.#kernel ??= this.#makeKernel());
    const place = { ...this.#thread, queue: this.#queue, kernel };
    return hostTarget(definition, place, former);
  }

  close(): void {
    this.#kernel = undefined;
  }
}
