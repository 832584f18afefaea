// Follows the roots of a segment with more roots than the reader keeps.
import { expect } from 'chai';
import { Budget } from '#app/budget.js';
import { posixMemory } from '#app/native/os/posix.js';
import { RootScan } from '#app/native/segment/root-scan.js';
import { readHeader } from '#app/native/segment/segment-header.js';
import { freshSegments } from '../../support/segments.js';

describe('the scan of roots', function () {
  this.slow(10_000);
  const segments = freshSegments();

  it('keeps at most 16,384 roots, in short steps, and takes others in place of removed ones', () => {
    const publisher = segments.publish('82', {
      capacity: { records: 40_000, stringBytes: 4_000_000 },
    });
    const roots = Array.from({ length: 16_390 }, (_, at) =>
      publisher.addRoot(`h.${at}.demo`, 'Demo'),
    );
    const file = posixMemory().open(segments.name('82'));
    if (file === undefined) throw new Error('there is no segment');
    const scan = new RootScan(file, readHeader(file));
    const read = (): number => {
      let steps = 1;
      while (scan.update(new Budget({ steps: 1024 }))) steps++;
      return steps;
    };
    const names = () => [...scan.roots].map(({ name }) => name);
    expect(read()).to.be.greaterThan(10);
    expect(names()).to.have.lengthOf(16_384);
    expect(names().at(-1)).to.equal('h.16383.demo');

    for (const root of roots.slice(0, 2)) publisher.removeObject(root);
    for (const name of ['a', 'b', 'c']) publisher.addRoot(`h.${name}.demo`, 'Demo');
    read();
    expect(names()).to.have.lengthOf(16_384);
    expect(names().slice(-2)).to.deep.equal(['h.a.demo', 'h.b.demo']);
    file.close();
  });
});
