// Tests the frames that histograms and summaries update in place.
import { expect } from 'chai';
import { PublishedValue } from '#app/native/publisher/published-values.js';
import { Frame } from '#app/native/publisher/metrics/frame.js';
import { freshSegments } from '../../../support/segments.js';

const SUM = 0;
const COUNTS = 1;

describe('A frame that is updated in place', () => {
  const segments = freshSegments();
  const histogram = () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    return publisher.addVariable(root, 'h', 'histogram', { schema: [1] });
  };
  /** The frame of the histogram and its slot, as a reader sees them. */
  const stored = (variable: ReturnType<typeof histogram>) => {
    const { frames, u64 } = PublishedValue.memoryOf(variable);
    const { offset, length } = variable.region;
    return {
      frame: [...frames.subarray(offset, offset + length)],
      slot: u64[variable.ref?.slot ?? 0],
    };
  };

  it('has the same bytes as after the calls of its variable', () => {
    const variable = histogram();
    variable.observe(0.5);
    variable.observe(7);
    const expected = stored(variable);
    variable.set([0, 0], 0);
    const frame = Frame.of(variable);
    for (const [bucket, value] of [
      [0, 0.5],
      [1, 7],
    ] as const) {
      frame?.begin();
      frame?.addFloat(SUM, value);
      frame?.countUp(COUNTS + bucket);
      frame?.end();
    }
    const own = stored(variable);
    expect(own.frame.slice(1, -1)).to.deep.equal(expected.frame.slice(1, -1));
    expect(own.slot).to.equal((expected.slot ?? 0n) + 3n);
    expect([own.frame[0], own.frame.at(-1)]).to.deep.equal([own.slot, own.slot]);
  });

  it('counts updates and observations beyond 2^32', () => {
    const variable = histogram();
    variable.set([2n ** 32n - 2n, 2n ** 33n - 1n], 0);
    const { frames, u64 } = PublishedValue.memoryOf(variable);
    const { offset, length } = variable.region;
    const begun = 2n ** 32n - 2n;
    for (const at of [offset, offset + length - 1]) frames[at] = begun;
    u64[variable.ref?.slot ?? 0] = begun;
    const frame = Frame.of(variable);
    for (let update = 0; update < 3; update++) {
      frame?.begin();
      frame?.countUp(COUNTS);
      frame?.countUp(COUNTS + 1);
      frame?.end();
    }
    const updates = begun + 3n;
    expect(stored(variable)).to.deep.equal({
      frame: [updates, 0n, 2n ** 32n + 1n, 2n ** 33n + 2n, updates],
      slot: updates,
    });
  });
});
