// A look at a tree is done in slices, each in a turn of its own.
import { expect } from 'chai';
import { Budget } from '#app/budget.js';
import { lookInTurns } from '#app/streams/look-in-turns.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** Steps that end with an answer. */
function* stepsOf(count: number, log: string[] = []): Generator<void, string> {
  try {
    for (let i = 0; i < count; i++) {
      log.push(`step ${i}`);
      yield;
    }
    return 'answer';
  } finally {
    log.push('over');
  }
}

/** A budget of two steps. */
const two = (): Budget => {
  const budget = new Budget({ steps: 2 });
  Object.defineProperty(budget, 'isSpent', { get: () => (budget.spend(1), spent(budget)) });
  return budget;
};
const checks = new WeakMap<Budget, number>();
function spent(budget: Budget): boolean {
  const count = (checks.get(budget) ?? 0) + 1;
  checks.set(budget, count);
  return count >= 2;
}

describe('lookInTurns', () => {
  it(
    'emits the answer once, and completes',
    marbles(({ expectObservable }) => {
      const look$ = lookInTurns(() => stepsOf(3));
      expectObservable(look$).toBe('(a|)', { a: 'answer' });
    }),
  );

  it(
    'passes an error on',
    marbles(({ expectObservable }) => {
      const look$ = lookInTurns(() => ({
        next: () => {
          throw new Error('torn');
        },
      }));
      expectObservable(look$).toBe('#', undefined, new Error('torn'));
    }),
  );

  it('does nothing at once, and no more in a turn than its slice', () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const { seen, subscription } = follow(lookInTurns(() => stepsOf(5, log), two, clock));
    expect(log).to.deep.equal([]);
    const turns: number[] = [];
    while (clock.step()) turns.push(log.length);
    expect(turns).to.deep.equal([2, 4, 6]);
    expect(seen).to.deep.equal(['answer']);
    expect(subscription.closed).to.equal(true);
  });

  it('ends with its subscriber', () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const { seen, subscription } = follow(lookInTurns(() => stepsOf(5, log), two, clock));
    clock.step();
    subscription.unsubscribe();
    expect(clock.step()).to.equal(false);
    expect(log).to.deep.equal(['step 0', 'step 1']);
    expect(seen).to.deep.equal([]);
  });
});
