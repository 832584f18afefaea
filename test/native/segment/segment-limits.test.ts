// The most that one segment may hold.
import { expect } from 'chai';
import { posixMemory } from '#app/native/os/posix.js';
import { segmentWatches } from '#app/native/segment/segment-watch.js';
import { freshSegments } from '../../support/segments.js';

describe('a segment with more objects and variables than it may have', () => {
  const segments = freshSegments();

  it('is not served, and says which setting allows how many', () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    publisher.addVariable(root, 'u', 'u64').set(1);
    const verdictAt = (segmentMaxItems: number) => {
      const pool = { contextId: segments.contextId, poolName: 'pool', segmentMaxItems };
      const watch = segmentWatches(posixMemory(), pool)('82');
      const { publisher: verdict } = watch.look();
      watch.close();
      return verdict;
    };
    expect(verdictAt(2).state).to.equal('live');
    publisher.addVariable(root, 'v', 'u64').set(1);
    expect(verdictAt(2)).to.include({
      state: 'corrupt',
      reason: 'Segment is corrupt: it has more than 2 objects and variables (segment_max_items)',
    });
    publisher.removeObject(publisher.addObject(root, 'r.gone', 'C'));
    expect(verdictAt(3).state, 'what is gone does not count').to.equal('corrupt');
    expect(verdictAt(4).state).to.equal('live');
  });
});
