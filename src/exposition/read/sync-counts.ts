// How many of the tracked objects and variables there are, and how many of them have a value.
import type { SyncProgress } from '../../model.js';
import { isVariable } from './tree-walk.js';
import type { TrackableItem } from './tree-walk.js';

interface Count {
  synced: number;
  total: number;
}

export class SyncCounts {
  readonly #objects = { synced: 0, total: 0 };
  readonly #variables = { synced: 0, total: 0 };

  /** A copy of the numbers. */
  get now(): Omit<SyncProgress, 'reason'> {
    return { objects: copyOf(this.#objects), variables: copyOf(this.#variables) };
  }

  /** How many variables count, synced or not. */
  get variables(): number {
    return this.#variables.total;
  }

  get areAllSynced(): boolean {
    return (
      this.#objects.synced === this.#objects.total &&
      this.#variables.synced === this.#variables.total
    );
  }

  /** Adds an item to the total. */
  await(item: TrackableItem): void {
    this.#of(item).total++;
  }

  /** Removes an item from the total. */
  forget(item: TrackableItem): void {
    this.#of(item).total--;
  }

  got(item: TrackableItem): void {
    this.#of(item).synced++;
  }

  lost(item: TrackableItem): void {
    this.#of(item).synced--;
  }

  #of(item: TrackableItem): Count {
    return isVariable(item) ? this.#variables : this.#objects;
  }
}

const copyOf = ({ synced, total }: Readonly<Count>): Count => ({ synced, total });
