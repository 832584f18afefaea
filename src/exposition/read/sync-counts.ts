// How many of the tracked objects and variables there are, and how many of them have a value.
import type { ManagedObject, SyncProgress, Variable } from '../../model.js';
import { isVariable } from './tree-walk.js';

interface Count {
  synced: number;
  total: number;
}

type Item = ManagedObject | Variable;

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

  /** An item is waited for from now on. */
  await(item: Item): void {
    this.#of(item).total++;
  }

  /** An item is not waited for any more. */
  forget(item: Item): void {
    this.#of(item).total--;
  }

  /** An item got its value. */
  got(item: Item): void {
    this.#of(item).synced++;
  }

  /** An item lost its value. */
  lost(item: Item): void {
    this.#of(item).synced--;
  }

  #of(item: Item): Count {
    return isVariable(item) ? this.#variables : this.#objects;
  }
}

const copyOf = ({ synced, total }: Readonly<Count>): Count => ({ synced, total });
