// Tests which lines the live view of shm_dump shows as changed.
import { expect } from 'chai';
import { FollowedSegment } from '#app/dump/segment/followed-segment.js';
import { LiveView } from '#app/dump/watch/live-view.js';
import { posixMemory } from '#app/native/os/posix.js';
import { Publishers } from '../support/publishers.js';

describe('the live view of a segment', () => {
  const publishers = new Publishers();
  afterEach(() => publishers.closeAll());

  it('marks a root as changed when its as-of time changes, but not when only the age of that time changes', () => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('h.1.shop', 'Shop');
    publisher.setAsOf(root, 1_000_000_000n);
    publisher.place();
    const segment = new FollowedSegment(posixMemory(), `${publishers.contextId}.pool.82`);
    const view = new LiveView(segment, { object: undefined, words: [] }, false);
    const rootAt = (nowMs: number) =>
      view.lines({ columns: 200, rows: 20 }, nowMs).find(({ text }) => text.startsWith('h.1.shop'));
    expect(rootAt(3000)?.text).to.contain('(2 s ago)');
    expect(rootAt(4000)).to.deep.include({ isBold: false });
    publisher.setAsOf(root, 2_000_000_000n);
    expect(rootAt(5000)).to.deep.include({ isBold: true });
  });
});
