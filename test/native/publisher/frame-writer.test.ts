// Tests the bytes of frames in a segment.
import { expect } from 'chai';
import { FrameWriter, HISTOGRAM } from '#app/native/publisher/frame-writer.js';
import { PublishedValue } from '#app/native/publisher/published-values.js';
import { freshSegments } from '../../support/segments.js';

describe('A frame', () => {
  const segments = freshSegments();
  const histogram = () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    return publisher.addVariable(root, 'h', 'histogram', { schema: [1] });
  };
  /** The frame of the histogram and its slot, as a reader sees them. */
  const stored = (variable: ReturnType<typeof histogram>) => {
    const { frames, u64 } = PublishedValue.memoryOf(variable);
    const { offset = 0, length = 0 } = variable.frame?.region ?? {};
    return {
      frame: [...frames.subarray(offset, offset + length)],
      slot: u64[variable.ref?.slot ?? 0],
    };
  };

  it('has the number of its updates at its start, at its end and in its slot', () => {
    const variable = histogram();
    variable.observe(0.5);
    variable.set([1, 1], 7.5);
    // Metrics update the frame directly like this, without the checks of the variable's methods.
    const { frame } = variable;
    frame?.begin();
    frame?.addFloat(HISTOGRAM.sum, 7);
    frame?.countUp(HISTOGRAM.counts + 1);
    frame?.end();
    const sum = new BigUint64Array(Float64Array.of(14.5).buffer)[0];
    // The first update is that of the new variable.
    expect(stored(variable)).to.deep.equal({ frame: [4n, sum, 1n, 2n, 4n], slot: 4n });
  });

  it('counts updates and observations beyond 2^32', () => {
    const variable = histogram();
    variable.set([2n ** 32n - 2n, 2n ** 33n - 1n], 0);
    const memory = PublishedValue.memoryOf(variable);
    const { frames, u64 } = memory;
    const { offset = 0, length = 0 } = variable.frame?.region ?? {};
    const begun = 2n ** 32n - 2n;
    for (const at of [offset, offset + length - 1]) frames[at] = begun;
    u64[variable.ref?.slot ?? 0] = begun;
    const frame = new FrameWriter(memory, { offset, length }, variable.ref?.slot ?? 0);
    for (let update = 0; update < 3; update++) {
      frame.begin();
      frame.countUp(HISTOGRAM.counts);
      frame.countUp(HISTOGRAM.counts + 1);
      frame.end();
    }
    const updates = begun + 3n;
    expect(stored(variable)).to.deep.equal({
      frame: [updates, 0n, 2n ** 32n + 1n, 2n ** 33n + 2n, updates],
      slot: updates,
    });
  });
});
