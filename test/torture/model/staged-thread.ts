// The thread of a partition inside this one: its messages go to and fro in the seed's own time.
import { EventEmitter } from 'node:events';
import { Subject } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { FromThread, ToThread } from '#app/targets/threads/messages.js';
import { PartitionThread } from '#app/targets/threads/partition-thread.js';
import type { ThreadParts } from '#app/targets/threads/partition-thread.js';
import type { ThreadWorker } from '#app/targets/threads/threaded-partition.js';
import { Post } from './post.js';
import type { SeededClock } from './seeded-clock.js';

export class StagedThread extends EventEmitter implements ThreadWorker {
  readonly #to: Post<ToThread>;
  readonly #from: Post<FromThread>;
  readonly #subscription: Subscription;

  /** @param postMs how long a message takes at most */
  constructor(clock: SeededClock, postMs: number, parts: Omit<ThreadParts, 'scheduler' | 'nowMs'>) {
    super();
    const message$ = new Subject<ToThread>();
    this.#to = new Post(clock, postMs, (message) => {
      message$.next(message);
    });
    this.#from = new Post(clock, postMs, (message) => {
      this.emit('message', message);
    });
    const thread = new PartitionThread({ ...parts, scheduler: clock, nowMs: () => clock.now() });
    this.#subscription = thread.run(message$).subscribe({
      next: (message) => {
        this.#from.send(message);
      },
      error: (error: unknown) => {
        this.die(error);
      },
    });
  }

  postMessage(message: ToThread): void {
    this.#to.send(message);
  }

  terminate(): void {
    this.#end();
    this.emit('exit', 1);
  }

  /** It ends with an error; what it has sent may be lost. */
  die(error: unknown): void {
    this.#end();
    this.emit('error', error);
    this.emit('exit', 1);
  }

  #end(): void {
    this.#to.end();
    this.#from.end();
    this.#subscription.unsubscribe();
  }
}
