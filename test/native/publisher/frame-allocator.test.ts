// Room for frames: never twice at once, and given back to those who need as much.
import { expect } from 'chai';
import fc from 'fast-check';
import { FrameAllocator } from '#app/native/publisher/allocators.js';

describe('FrameAllocator', () => {
  const SIZES = [
    [1, 3],
    [3, 3],
    [4, 4],
    [5, 6],
    [6, 6],
    [7, 8],
    [8, 8],
    [9, 12],
    [12, 12],
    [13, 16],
    [17, 24],
    [25, 32],
    [8194, 12_288],
  ] as const;
  for (const [words, size] of SIZES)
    it(`gives ${words} units the room of ${size}`, () => {
      const frames = new FrameAllocator(24_576);
      expect([frames.take(words), frames.top, frames.take(words)]).to.deep.equal([0, size, size]);
    });

  it('has no room beyond its capacity, to the unit', () => {
    expect(new FrameAllocator(11).take(9)).to.equal(undefined);
    expect(new FrameAllocator(12).take(9)).to.equal(0);
  });

  it('gives room that was given back to whoever fits it, before new room', () => {
    const frames = new FrameAllocator(24);
    expect([frames.take(12), frames.take(12), frames.take(12)]).to.deep.equal([0, 12, undefined]);
    frames.give(12, 12);
    expect([frames.take(10), frames.take(10)]).to.deep.equal([12, undefined]);
  });

  it('never gives room twice at once, nor beyond its capacity', () => {
    const step = fc.record({ words: fc.integer({ min: 3, max: 40 }), give: fc.boolean() });
    const life = fc.array(step, { maxLength: 300, size: 'max' });
    const property = fc.property(life, (steps) => {
      const capacity = 400;
      const frames = new FrameAllocator(capacity);
      const taken: { at: number; words: number }[] = [];
      for (const { words, give } of steps) {
        const [back] = give ? taken.splice(words % Math.max(taken.length, 1), 1) : [];
        if (back !== undefined) frames.give(back.at, back.words);
        const at = give ? undefined : frames.take(words);
        if (at === undefined) continue;
        expect(at + words).to.be.at.most(Math.min(frames.top, capacity));
        for (const other of taken)
          expect(at >= other.at + other.words || at + words <= other.at).to.equal(true);
        taken.push({ at, words });
      }
    });
    fc.assert(property);
  });
});
