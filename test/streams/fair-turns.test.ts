// What is due now gets a little of each turn of the event loop.
import { expect } from 'chai';
import { FairTurns } from '#app/streams/fair-turns.js';

/** Turns that are made by hand, on a clock that work moves. */
function byHand() {
  const yielded: (() => void)[] = [];
  const log: string[] = [];
  let [nowMs, workedMs] = [0, 0];
  let timer: { readonly next: () => void; readonly atMs: number } | undefined;
  const turns = new FairTurns({
    nowMs: () => nowMs,
    workedMs: () => workedMs,
    yieldTo: (next) => yielded.push(next),
    wait: (next, ms) => {
      expect(timer).to.equal(undefined);
      timer = { next, atMs: nowMs + ms };
      return () => {
        timer = undefined;
      };
    },
  });
  const busy = (ms: number): void => {
    nowMs += ms;
    workedMs += ms;
  };
  const work =
    (name: string, tookMs = 0) =>
    () => {
      busy(tookMs);
      log.push(name);
    };
  const after = (next: (() => void) | undefined): string[] | undefined => {
    const before = log.length;
    next?.();
    return next && log.slice(before);
  };
  return {
    turns,
    work,
    log,
    /** The thread does something else, such as collecting garbage. */
    busy,
    /** Nothing happens; a turn that waits for this has to wait longer. */
    idle: (ms: number): void => {
      nowMs += ms;
      expect(timer?.atMs ?? Infinity).to.be.greaterThan(nowMs);
    },
    /** What one turn of the event loop did, which is nothing after the last work; undefined if none was asked for. */
    turn: (): string[] | undefined => {
      const [next, ...others] = yielded.splice(0);
      expect(others).to.deep.equal([]);
      return after(next);
    },
    /** For how long the next turn waits: undefined if it does not. */
    restMs: (): number | undefined => timer && timer.atMs - nowMs,
    /** What the turn after that did. */
    rested: (): string[] | undefined => {
      const rest = timer;
      nowMs = rest?.atMs ?? nowMs;
      timer = undefined;
      return after(rest?.next);
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
    expect(turn()).to.deep.equal([]);
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
    expect(turn()).to.deep.equal([]);
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
    const { turns, work, turn, rested } = byHand();
    const ask = (name: string) => {
      turns.soon(work(name, 4), 'first');
    };
    turns.soon(work('a', 1));
    turns.soon(work('b', 1));
    for (const name of ['u', 'v', 'w', 'x', 'y']) ask(name);
    expect(turn()).to.deep.equal(['u']);
    expect(turn()).to.deep.equal(['v']);
    expect(turn()).to.deep.equal(['w']);
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal(['x']);
    turns.soon(work('c'));
    expect(turn()).to.deep.equal(['y']);
    expect(turn()).to.deep.equal(['b']);
    expect(turn()).to.deep.equal([]);
    expect(rested()).to.deep.equal(['c']);
    expect(turn()).to.deep.equal([]);
    expect(turn()).to.equal(undefined);
    expect(rested()).to.equal(undefined);
  });

  it('leave the thread idle for twice as long as they took, where somebody asked for something lately', () => {
    const { turns, work, turn, busy, idle, restMs, rested } = byHand();
    turns.soon(work('asked', 1), 'first');
    for (const name of ['a', 'b', 'c']) turns.soon(work(name, 1));
    expect(turn()).to.deep.equal(['asked']);
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal([]);
    expect(restMs()).to.equal(2);
    expect(rested()).to.deep.equal(['b']);
    // Garbage is collected before the event loop has turned.
    busy(5);
    expect(turn()).to.deep.equal([]);
    expect(restMs()).to.equal(12);
    idle(11);
    expect(restMs()).to.equal(1);
    expect(rested()).to.deep.equal(['c']);
  });

  it('are left for twenty milliseconds at most', () => {
    const { turns, work, turn, restMs, rested } = byHand();
    turns.soon(work('a', 50));
    turns.soon(work('b'));
    turns.soon(work('asked'), 'first');
    expect(turn()).to.deep.equal(['asked']);
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal([]);
    expect(restMs()).to.equal(20);
    expect(rested()).to.deep.equal(['b']);
  });

  it('follow each other where nobody asked for a tenth of a second', () => {
    const { turns, work, turn, idle } = byHand();
    turns.soon(work('asked'), 'first');
    expect(turn()).to.deep.equal(['asked']);
    idle(99);
    turns.soon(work('a', 1));
    turns.soon(work('b', 1));
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal(['b']);
  });

  it('go at once to what somebody asks for while all else rests, and neither rest gets longer', () => {
    const { turns, work, turn, idle, restMs, rested } = byHand();
    turns.soon(work('asked'), 'first');
    turn();
    for (const name of ['a', 'b', 'c']) turns.soon(work(name, 5));
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal([]);
    idle(7);
    expect(restMs()).to.equal(3);
    turns.soon(work('asked', 1), 'first');
    expect(restMs()).to.equal(undefined);
    expect(turn()).to.deep.equal(['asked']);
    expect(restMs()).to.equal(2);
    expect(rested()).to.deep.equal(['b']);
    expect(turn()).to.deep.equal([]);
    expect(restMs()).to.equal(10);
  });

  it('follow each other while somebody waits for long work', () => {
    const { turns, work, turn } = byHand();
    turns.soon(work('short'), 'first');
    expect(turn()).to.deep.equal(['short']);
    for (const name of ['long', 'longer']) turns.soon(work(name, 1), 'asked');
    turns.soon(work('a', 1));
    expect(turn()).to.deep.equal(['long']);
    expect(turn()).to.deep.equal(['longer']);
    expect(turn()).to.deep.equal([]);
    expect(turn()).to.equal(undefined);
  });

  it('give way to a client that has just come, for one turn, and do not rest for it', () => {
    const { turns, work, turn } = byHand();
    turns.soon(work('a', 1));
    turns.soon(work('b', 1));
    turns.giveWay();
    expect(turn()).to.deep.equal([]);
    expect(turn()).to.deep.equal(['a']);
    expect(turn()).to.deep.equal(['b']);
    expect(turn()).to.deep.equal([]);
    expect(turn()).to.equal(undefined);
  });

  it('need no turn for a client where nothing waits', () => {
    const { turns, turn } = byHand();
    turns.giveWay();
    expect(turn()).to.equal(undefined);
  });

  it('go on however many clients come', () => {
    const { turns, work, log, turn } = byHand();
    turns.soon(work('a'));
    for (let come = 0; come < 10 && !log.includes('a'); come++) {
      turns.giveWay();
      turns.soon(work('asked', 3), 'first');
      turn();
    }
    expect(log).to.contain('a');
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
