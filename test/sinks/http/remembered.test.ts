// What is remembered of headers: the last short ones, and not more.
import { expect } from 'chai';
import { remembered } from '#app/sinks/http/choose-format.js';

describe('remembered', () => {
  const counted = () => {
    let calls = 0;
    const lengthOf = remembered((header) => {
      calls++;
      return header.length;
    });
    return { lengthOf, calls: () => calls };
  };

  it('asks once for a header that comes again', () => {
    const { lengthOf, calls } = counted();
    expect([lengthOf('gzip'), lengthOf('gzip'), lengthOf('br')]).to.deep.equal([4, 4, 2]);
    expect(calls()).to.equal(2);
  });

  it('keeps no long headers, and forgets all when there are too many', () => {
    const { lengthOf, calls } = counted();
    const long = 'x'.repeat(257);
    expect([lengthOf(long), lengthOf(long), calls()]).to.deep.equal([257, 257, 2]);
    for (let i = 0; i < 33; i++) lengthOf(`header ${i}`);
    const before = calls();
    lengthOf('header 32');
    expect(calls()).to.equal(before);
    lengthOf('header 0');
    expect(calls()).to.equal(before + 1);
  });
});
