// Tests Budget, which limits the work of one slice.
import { expect } from 'chai';
import { Budget } from '#app/budget.js';

describe('a budget', () => {
  it('is spent as soon as one of its limits is reached', () => {
    let nowMs = 100;
    const table = [
      ['steps', () => new Budget({ steps: 3, bytes: 99 }), (budget: Budget) => budget.spend(1)],
      ['bytes', () => new Budget({ steps: 99, bytes: 21 }), (budget: Budget) => budget.spend(1, 7)],
      ['ms', () => new Budget({ steps: 99, ms: 1.5 }, () => nowMs), () => (nowMs += 0.5)],
    ] as const;
    for (const [limit, make, spend] of table) {
      const budget = make();
      const seen: boolean[] = [];
      for (let i = 0; i < 4; i++) {
        seen.push(budget.isSpent);
        spend(budget);
      }
      const expected = [false, false, false, true];
      expect(seen, limit).to.deep.equal(expected);
    }
  });

  it('without limits is never spent, but counts copied bytes', () => {
    const budget = new Budget();
    budget.spend(1e9, 1e15);
    expect([budget.isSpent, budget.bytes]).to.deep.equal([false, 1e15]);
  });

  it('reads the clock once every few steps, but checks its other limits at each step', () => {
    let [nowMs, reads] = [0, 0];
    const clock = () => {
      reads++;
      return nowMs;
    };
    const budget = new Budget({ steps: 100, ms: 10, stepsPerClockRead: 4 }, clock);
    reads = 0;
    const spentAt = (steps: number): boolean[] =>
      Array.from({ length: steps }, () => {
        budget.spend(1);
        return budget.isSpent;
      });
    expect(spentAt(8)).to.deep.equal(new Array(8).fill(false));
    expect(reads).to.equal(2);
    nowMs = 6;
    expect(spentAt(4)).to.deep.equal(new Array(4).fill(false));
    nowMs = 10;
    expect(spentAt(4)).to.include(true);
    expect(budget.isSpent).to.equal(true);
    const short = new Budget({ steps: 2, ms: 10, stepsPerClockRead: 4 }, clock);
    short.spend(2);
    expect(short.isSpent).to.equal(true);
  });

  it('is not spent by elapsed time before the minimum number of steps', () => {
    const budget = new Budget({ steps: 9, ms: 0, leastSteps: 2 });
    const seen = [budget.isSpent];
    for (let step = 0; step < 2; step++) {
      budget.spend(1);
      seen.push(budget.isSpent);
    }
    expect(seen).to.deep.equal([false, false, true]);
  });

  it('begins again with other limits', () => {
    const budget = new Budget({ steps: 2 });
    budget.spend(2, 5);
    budget.restart({ steps: 1 });
    expect([budget.isSpent, budget.bytes]).to.deep.equal([false, 0]);
    budget.spend(1);
    expect(budget.isSpent).to.equal(true);
  });

  it('with a limit of 0 is spent from the start', () => {
    for (const limits of [{ steps: 0 }, { bytes: 0 }, { ms: 0 }])
      expect(new Budget(limits).isSpent, JSON.stringify(limits)).to.equal(true);
  });
});
