// What is due now gets a little of each turn of the event loop.
import { expect } from 'chai';
import { FairTurns } from '#app/streams/fair-turns.js';

/** Turns that are made by hand, on a clock that work moves. */
function byHand() {
  const yielded: (() => void)[] = [];
  const log: string[] = [];
  let nowMs = 0;
  const turns = new FairTurns(
    () => nowMs,
    (next) => yielded.push(next),
  );
  const work =
    (name: string, tookMs = 0) =>
    () => {
      nowMs += tookMs;
      log.push(name);
    };
  return {
    turns,
    work,
    log,
    /** What one turn of the event loop did; undefined if none was asked for. */
    turn: (): string[] | undefined => {
      const [next, ...others] = yielded.splice(0);
      expect(others).to.deep.equal([]);
      const before = log.length;
      next?.();
      return next && log.slice(before);
    },
  };
}

describe('fair turns', () => {
  it('do nothing at once, and then all that is due in its order', () => {
    const { turns, work, log, turn } = byHand();
    turns.soon(work('a'));
    turns.soon(work('b'));
    expect(log).to.deep.equal([]);
    expect(turn()).to.deep.equal(['a', 'b']);
    expect(turn()).to.equal(undefined);
  });

  it('begin nothing after half a millisecond: it waits for the next one, before what came later', () => {
    const { turns, work, turn } = byHand();
    turns.soon(work('a', 0.4));
    turns.soon(() => {
      work('b', 0.1)();
      turns.soon(work('late'));
    });
    turns.soon(work('c', 30));
    turns.soon(work('d'));
    expect(turn()).to.deep.equal(['a', 'b']);
    expect(turn()).to.deep.equal(['c']);
    expect(turn()).to.deep.equal(['d', 'late']);
    expect(turn()).to.equal(undefined);
  });

  it('leave what work adds to the next one, so that sockets and timers come before it', () => {
    const { turns, work, turn } = byHand();
    turns.soon(() => {
      work('a')();
      turns.soon(work('b'));
    });
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal(['b']);
  });

  it('go to what somebody waits for, until all else has waited for ten milliseconds', () => {
    const { turns, work, turn } = byHand();
    turns.soon(work('a', 1));
    turns.soon(work('b', 1));
    for (const name of ['u', 'v', 'w', 'x', 'y']) turns.soon(work(name, 4), true);
    expect(turn()).to.deep.equal(['u']);
    expect(turn()).to.deep.equal(['v']);
    expect(turn()).to.deep.equal(['w']);
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal(['x']);
    turns.soon(work('c'));
    expect(turn()).to.deep.equal(['y']);
    expect(turn()).to.deep.equal(['b']);
    expect(turn()).to.deep.equal(['c']);
    expect(turn()).to.equal(undefined);
  });

  it('skip what was called off', () => {
    const { turns, work, turn } = byHand();
    const callOff = turns.soon(work('a'));
    turns.soon(work('b'));
    callOff();
    expect(turn()).to.deep.equal(['b']);
  });

  it('go on after work that throws', () => {
    const { turns, work, turn } = byHand();
    turns.soon(() => {
      throw new Error('a bug');
    });
    turns.soon(work('b'));
    expect(turn).to.throw('a bug');
    expect(turn()).to.deep.equal(['b']);
  });
});
