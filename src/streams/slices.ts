// Work that takes several turns: what a turn leaves of it is done in the next ones.
import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { Budget } from '../budget.js';
import type { Rest } from './refresh-queue.js';

interface Work {
  /** Takes a step; emits the result after the last one. */
  readonly step: () => void;
  readonly fail: (error: unknown) => void;
}

/** Pieces of work, one after the other: the first begins at once, and what a turn leaves is its rest. */
export class Slices implements Rest {
  readonly #slice: () => Budget;
  #waiting: Work[] = [];

  /** @param slice what one turn may take; without limit by default */
  constructor(slice = () => new Budget()) {
    this.#slice = slice;
  }

  get isOpen(): boolean {
    return this.#waiting.length > 0;
  }

  /** Emits what the steps end with: at once, unless that takes more than one turn. Unsubscribing ends them. */
  result$<T>(steps: () => Generator<void, T>): Observable<T> {
    return new Observable((subscriber: Subscriber<T>) => {
      const all = steps();
      const work: Work = {
        step: () => {
          const { done, value } = all.next();
          if (done !== true) return;
          this.#leave(work);
          subscriber.next(value);
          subscriber.complete();
        },
        fail: (error) => {
          this.#leave(work);
          subscriber.error(error);
        },
      };
      this.#waiting.push(work);
      if (this.#waiting.length === 1) this.goOn();
      return () => {
        this.#leave(work);
      };
    });
  }

  /** Does the next slice. */
  goOn(): void {
    const budget = this.#slice();
    for (let work = this.#waiting[0]; work !== undefined; work = this.#waiting[0]) {
      step(work);
      if (budget.isSpent) return;
    }
  }

  #leave(work: Work): void {
    this.#waiting = this.#waiting.filter((each) => each !== work);
  }
}

function step(work: Work): void {
  try {
    work.step();
  } catch (error) {
    work.fail(error);
  }
}
