// A partition in the thread that it was made in: a queue, and memory of its own.
import { Kernel } from '../exposition/kernel/kernel.js';
import { RefreshQueue } from '../streams/refresh-queue.js';
import type { TargetDefinition } from './definition.js';
import { HostedTarget } from './hosted-target.js';
import type { Workplace } from './hosted-target.js';
import type { HostOptions, Hosted, Partition } from './partition.js';

export class LogicalPartition implements Partition {
  readonly number: number;
  readonly #thread: Omit<Workplace, 'queue' | 'kernel'>;
  readonly #queue: RefreshQueue;
  #kernel: Kernel | undefined;

  /** @param thread what all partitions of the thread share */
  constructor(
    number: number,
    thread: Omit<Workplace, 'queue' | 'kernel'>,
    queue = new RefreshQueue(thread.nowMs),
    kernel?: Kernel,
  ) {
    this.number = number;
    this.#thread = thread;
    this.#queue = queue;
    this.#kernel = kernel;
  }

  host(definition: TargetDefinition, options: HostOptions): Hosted {
    this.#kernel ??= new Kernel();
    const place = { ...this.#thread, queue: this.#queue, kernel: this.#kernel };
    return new HostedTarget(definition, place, options);
  }

  close(): void {
    this.#kernel = undefined;
  }
}
