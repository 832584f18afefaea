// What a target leaves is freed a little at a time.
import { expect } from 'chai';
import { asyncScheduler } from 'rxjs';
import { Budget } from '#app/budget.js';
import { closeInTurns } from '#app/streams/close-in-turns.js';
import { marbles } from '../support/marbles.js';

describe('closeInTurns', () => {
  const made = () => {
    const freed: number[] = [];
    const steps = (function* () {
      for (const item of [1, 2, 3, 4, 5]) yield void freed.push(item);
    })();
    return { freed, steps };
  };

  it('frees all at once if it may', () => {
    const { freed, steps } = made();
    closeInTurns(steps);
    expect(freed).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('frees a slice in each turn, the first at once', () => {
    const { freed, steps } = made();
    const seen: number[] = [];
    marbles(({ flush }) => {
      let left = 0;
      const slice = () => {
        seen.push(freed.length);
        left = 2;
        return Object.defineProperty(new Budget(), 'isSpent', { get: () => --left <= 0 });
      };
      closeInTurns(steps, slice, asyncScheduler);
      expect(freed).to.deep.equal([1, 2]);
      flush();
    })();
    expect(seen).to.deep.equal([0, 2, 4]);
    expect(freed).to.deep.equal([1, 2, 3, 4, 5]);
  });
});
