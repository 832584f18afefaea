// What work may cost before others have their turn.
import { expect } from 'chai';
import { Budget } from '#app/budget.js';

/** A clock of what others took that is set by hand. */
const clockOf = (nowMs: number) => {
  const clock = {
    ...{ nowMs, lastMs: nowMs, looks: 0 },
    look: () => {
      clock.looks++;
      return (clock.lastMs = clock.nowMs);
    },
  };
  return clock;
};

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
      const seen: boolean[][] = [];
      for (let i = 0; i < 4; i++) {
        seen.push([budget.isHalfSpent, budget.isSpent]);
        spend(budget);
      }
      const expected = [
        [false, false],
        [false, false],
        [true, false],
        [true, true],
      ];
      expect(seen, limit).to.deep.equal(expected);
    }
  });

  it('without limits is never spent, and knows what was copied', () => {
    const budget = new Budget();
    budget.spend(1e9, 1e15);
    expect([budget.isSpent, budget.isHalfSpent, budget.bytes]).to.deep.equal([false, false, 1e15]);
  });

  it('looks at the clock once in so many steps, and always knows the others limits', () => {
    let [nowMs, looks] = [0, 0];
    const clock = () => {
      looks++;
      return nowMs;
    };
    const budget = new Budget({ steps: 100, ms: 10, stepsALook: 4 }, clock);
    looks = 0;
    const spentAt = (steps: number): boolean[] =>
      Array.from({ length: steps }, () => {
        budget.spend(1);
        return budget.isSpent;
      });
    expect(spentAt(8)).to.deep.equal(new Array(8).fill(false));
    expect(looks).to.equal(2);
    nowMs = 6;
    expect([budget.isHalfSpent, ...spentAt(4)]).to.deep.equal(new Array(5).fill(false));
    expect(budget.isHalfSpent).to.equal(true);
    nowMs = 10;
    expect(spentAt(4)).to.include(true);
    expect([budget.isSpent, budget.isHalfSpent]).to.deep.equal([true, true]);
    const short = new Budget({ steps: 2, ms: 10, stepsALook: 4 }, clock);
    short.spend(2);
    expect(short.isSpent).to.equal(true);
  });

  it('is not spent by time alone before a least number of steps', () => {
    const budget = new Budget({ steps: 9, ms: 0, leastSteps: 2 });
    const seen = [budget.isSpent];
    for (let step = 0; step < 2; step++) {
      budget.spend(1);
      seen.push(budget.isSpent);
    }
    expect(seen).to.deep.equal([false, false, true]);
  });

  it('is not spent by the time in which others had the processor, however long that is', () => {
    let nowMs = 100;
    const delay = clockOf(7);
    const budget = new Budget({ ms: 2 }, () => nowMs, delay);
    nowMs += 1 + 12;
    delay.nowMs += 12;
    expect([budget.isHalfSpent, budget.isSpent]).to.deep.equal([true, false]);
    nowMs += 0.5 + 5;
    delay.nowMs += 5;
    expect(budget.isSpent).to.equal(false);
    nowMs += 0.5;
    expect(budget.isSpent).to.equal(true);
  });

  it('has worked for half of its time at least when it first asks, whatever others took before it began', () => {
    let nowMs = 100;
    const delay = clockOf(7);
    delay.nowMs += 1000;
    const budget = new Budget({ ms: 2 }, () => nowMs, delay);
    const seen: boolean[] = [];
    for (nowMs of [102, 102.9, 103]) seen.push(budget.isSpent);
    expect(seen).to.deep.equal([false, false, true]);
  });

  it('knows what others took before another budget asked, within its time', () => {
    let nowMs = 100;
    const delay = clockOf(7);
    const outer = new Budget({ ms: 2 }, () => nowMs, delay);
    const inner = new Budget({ ms: 2 }, () => nowMs, delay);
    nowMs += 51;
    delay.nowMs += 50;
    expect([inner.isSpent, outer.isSpent]).to.deep.equal([false, false]);
    nowMs += 1;
    expect([inner.isSpent, outer.isSpent]).to.deep.equal([true, true]);
  });

  it('is spent in time, though whether half is spent was asked just before', () => {
    let nowMs = 0;
    const delay = clockOf(0);
    const budget = new Budget({ ms: 2, stepsALook: 4 }, () => nowMs, delay);
    delay.nowMs = 1;
    const seen: boolean[] = [];
    for (nowMs of [2, 2.5, 3, 3.5]) {
      for (let step = 0; step < 4; step++) budget.spend(1);
      seen.push(budget.isHalfSpent, budget.isSpent);
    }
    expect(seen).to.deep.equal([true, false, true, false, true, true, true, true]);
  });

  it('asks what others took only once its time is over, and once where they took nothing', () => {
    let nowMs = 0;
    const delay = clockOf(0);
    const budget = new Budget({ ms: 2 }, () => nowMs, delay);
    const seen: [boolean, boolean, number][] = [];
    for (nowMs of [0.9, 1, 1.9, 2]) seen.push([budget.isHalfSpent, budget.isSpent, delay.looks]);
    expect(seen).to.deep.equal([
      [false, false, 0],
      [true, false, 0],
      [true, false, 0],
      [true, true, 1],
    ]);
  });

  it('does not ask what others took where the clock never jumped, and stays spent', () => {
    let nowMs = 0;
    const delay = clockOf(0);
    const budget = new Budget({ ms: 2 }, () => nowMs, delay);
    const seen: boolean[] = [];
    for (nowMs of [0.5, 1, 1.5, 2]) seen.push(budget.isSpent);
    expect(seen).to.deep.equal([false, false, false, true]);
    expect(delay.looks).to.equal(0);
    nowMs += 50;
    delay.nowMs += 50;
    expect(budget.isSpent).to.equal(true);
  });

  it('leaves out no more for what others took than the jumps of the clock', () => {
    let nowMs = 0;
    const delay = clockOf(0);
    const budget = new Budget({ ms: 10 }, () => nowMs, delay);
    delay.nowMs = 8;
    for (; nowMs < 8; nowMs += 0.5) expect(budget.isSpent).to.equal(false);
    nowMs += 3;
    expect(budget.isSpent).to.equal(false);
    nowMs += 2.5;
    expect(budget.isSpent).to.equal(true);
  });

  it('of nothing is spent from the start', () => {
    for (const limits of [{ steps: 0 }, { bytes: 0 }, { ms: 0 }])
      expect(new Budget(limits).isSpent, JSON.stringify(limits)).to.equal(true);
  });
});
