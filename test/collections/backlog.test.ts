// Items that wait.
import { expect } from 'chai';
import { Backlog } from '#app/collections/by-id.js';

describe('a backlog', () => {
  it('gives items in the order in which they came, whatever comes meanwhile', () => {
    const backlog = new Backlog<number>();
    for (const item of [3, 1, 3, 2]) backlog.add(item);
    const taken = [backlog.next(), backlog.next()];
    for (const item of [3, 2]) backlog.add(item);
    while (backlog.size > 0) taken.push(backlog.next());
    expect(taken).to.deep.equal([3, 1, 3, 2, 3, 2]);
    expect(backlog.next()).to.equal(undefined);
    backlog.add(4);
    expect([backlog.next(), backlog.next()]).to.deep.equal([4, undefined]);
  });

  it('has nothing left once it was cleared', () => {
    const backlog = new Backlog<number>();
    for (const item of [1, 2, 3]) backlog.add(item);
    backlog.next();
    backlog.clear();
    expect([backlog.size, backlog.next()]).to.deep.equal([0, undefined]);
  });

  it('takes no longer for the last items than for the first', () => {
    const backlog = new Backlog<number>();
    for (let item = 0; item < 500_000; item++) backlog.add(item);
    let sum = 0;
    for (let item = backlog.next(); item !== undefined; item = backlog.next()) sum += item;
    expect(sum).to.equal((500_000 * 499_999) / 2);
  });
});
