// Jobs that two threads take from one desk.
import { expect } from 'chai';
import { Desk, SLOTS } from '#app/exposition/kernel/threads/desk.js';

const NEXT = 1;
const POSTED = 2;

/** A desk whose next job has that number. */
function deskAt(number: number): Desk {
  const desk = new Desk();
  desk.words[NEXT] = desk.words[POSTED] = number;
  return desk;
}

describe('a desk', () => {
  it('has no job before one is posted, and none once all are taken', () => {
    const desk = new Desk();
    expect(desk.take()).to.equal(undefined);
    desk.post();
    expect(desk.take()).to.equal(desk.job(0));
    expect(desk.take()).to.equal(undefined);
  });

  for (const first of [0, 5, 0x7fffffff, -1, -0x80000000, 0xffffffff])
    it(`gives jobs in the order in which they are posted, from number ${first} on`, () => {
      const desk = deskAt(first);
      const start = desk.posted;
      const taken = Array.from({ length: 3 * SLOTS }, (_, i) => {
        desk.post();
        return desk.take() === desk.job(start + i);
      });
      expect(taken).to.deep.equal(taken.map(() => true));
      expect(desk.take()).to.equal(undefined);
      for (let i = 0; i < SLOTS; i++) desk.post();
      const all = new Set(Array.from({ length: SLOTS }, () => desk.take()));
      expect(all.size).to.equal(SLOTS);
    });

  it('is the same for whoever has its words', () => {
    const desk = new Desk();
    const other = new Desk(desk.words);
    desk.kernel = 7;
    desk.post();
    expect(other.kernel).to.equal(7);
    expect(other.take()).not.to.equal(undefined);
    expect(desk.take()).to.equal(undefined);
  });

  it('is not slept at by one who has been woken meanwhile', () => {
    const desk = new Desk();
    desk.wake();
    const wakes = desk.sleep(0);
    desk.wake();
    expect(desk.sleep(wakes)).to.equal(wakes + 1);
  });
});
