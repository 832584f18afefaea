// Work in several turns: its order, its end, its failures.
import { expect } from 'chai';
import { catchError, mergeMap, of } from 'rxjs';
import { Budget } from '#app/budget.js';
import { Slices } from '#app/streams/slices.js';
import { follow } from '../support/follow.js';

/** Steps that note themselves and end with their name. */
function* steps(name: string, count: number, notes: string[]): Generator<void, string> {
  for (let step = 1; step < count; step++) {
    notes.push(`${name}${step}`);
    yield;
  }
  notes.push(name);
  return name;
}

describe('Slices', () => {
  const inSteps = () => new Slices(() => new Budget({ steps: 0 }));
  let notes: string[];
  beforeEach(() => {
    notes = [];
  });

  it('emits at once what is done in one slice', () => {
    const slices = new Slices();
    const { seen } = follow(slices.result$(() => steps('a', 5, notes)));
    expect([seen, slices.isOpen]).to.deep.equal([['a'], false]);
  });

  it('does one slice a turn, and is open until the last', () => {
    const slices = inSteps();
    const { seen } = follow(slices.result$(() => steps('a', 3, notes)));
    const turns = [[...notes, slices.isOpen]];
    while (slices.isOpen) {
      slices.goOn();
      turns.push([...notes, slices.isOpen]);
    }
    expect(turns).to.deep.equal([
      ['a1', true],
      ['a1', 'a2', true],
      ['a1', 'a2', 'a', false],
    ]);
    expect(seen).to.deep.equal(['a']);
  });

  it('begins what a result leads to in the same turn', () => {
    const slices = inSteps();
    const both$ = slices
      .result$(() => steps('a', 2, notes))
      .pipe(mergeMap(() => slices.result$(() => steps('b', 2, notes))));
    const { seen } = follow(both$);
    slices.goOn();
    expect(notes).to.deep.equal(['a1', 'a', 'b1']);
    slices.goOn();
    expect([seen, slices.isOpen]).to.deep.equal([['b'], false]);
  });

  it('does the work that came first first', () => {
    const slices = inSteps();
    const [first, second] = ['a', 'b'].map((name) =>
      follow(slices.result$(() => steps(name, 2, notes))),
    );
    while (slices.isOpen) slices.goOn();
    expect(notes).to.deep.equal(['a1', 'a', 'b1', 'b']);
    expect([first?.seen, second?.seen]).to.deep.equal([['a'], ['b']]);
  });

  it('does nothing more for who left', () => {
    const slices = inSteps();
    const { subscription } = follow(slices.result$(() => steps('a', 3, notes)));
    const { seen } = follow(slices.result$(() => steps('b', 1, notes)));
    subscription.unsubscribe();
    slices.goOn();
    expect([notes, seen, slices.isOpen]).to.deep.equal([['a1', 'b'], ['b'], false]);
  });

  it('passes on a failure, and goes on with the next', () => {
    const slices = inSteps();
    const failing$ = slices.result$(function* (): Generator<void, string> {
      yield;
      throw new Error('why');
    });
    const { seen } = follow(failing$.pipe(catchError((error: unknown) => of(String(error)))));
    const other = follow(slices.result$(() => steps('b', 1, notes)));
    while (slices.isOpen) slices.goOn();
    expect([seen, other.seen, slices.isOpen]).to.deep.equal([['Error: why'], ['b'], false]);
  });

  it('does nothing without work', () => {
    const slices = inSteps();
    slices.goOn();
    expect(slices.isOpen).to.equal(false);
  });
});
