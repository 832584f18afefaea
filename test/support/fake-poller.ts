// A poller that reads a source in memory and returns a few changes per poll.
import type { StructureChange } from '#app/model.js';
import type { PollResult, Poller } from '#app/streams/poller.js';
import type { FakeSource } from './fake-source.js';
import { pollResult } from './poll-results.js';

export class FakePoller implements Poller {
  readonly #source: FakeSource;
  readonly #unread: StructureChange[] = [];
  /** The maximum number of changes that one poll returns. */
  portion: number;
  /** The publisher's notification count. A test raises it after a change. */
  notifications = 0;

  constructor(source: FakeSource, portion: number) {
    this.#source = source;
    this.portion = portion;
  }

  poll(): PollResult {
    this.#unread.push(...this.#source.readChanges().changes);
    const changes = this.#unread.splice(0, this.portion);
    const { notifications } = this;
    const hasMore = this.#unread.length > 0;
    return pollResult({ source: this.#source, changes, hasMore, notifications });
  }

  wait(): () => void {
    return () => undefined;
  }

  close(): void {
    // It has nothing to close.
  }
}
