// What a directory that took over does not name any more is removed, a bounded part at each look.
import { expect } from 'chai';
import type { StructureChange } from '#app/model.js';
import { RECORDS_AT_ONCE } from '#app/native/segment/directory-reader.js';
import { Forge } from '../../torture/forge.js';
import { readTree } from '../../support/read-tree.js';
import { freshSegments } from '../../support/segments.js';

const OBJECTS = 2000;
/** Changes that one look may bring: those of a slice of records, and of a slice of removals. */
const MAX_AT_ONCE = 2 * RECORDS_AT_ONCE;
const capacity = { records: 1 << 13, slots: 1 << 13, stringBytes: 1 << 20, frameBytes: 4096 };

describe('a directory that took over without most of what there was', () => {
  const segments = freshSegments();

  function scene() {
    const publisher = segments.publish('82', { capacity, heartbeatMs: 0 });
    const root = publisher.addRoot('r', 'C');
    const many = Array.from({ length: OBJECTS }, (_, n) => {
      const object = publisher.addObject(root, `r.o${n}`, 'C');
      publisher.addVariable(object, 'v', 'u64').set(n);
      return object;
    });
    const watch = segments.watch('82');
    const takeAll = () => {
      while (watch.poll().hasMore);
    };
    /** As many records as the directory holds: one change of roles, or two. */
    const changeRoles = () => {
      for (let record = 0; record < capacity.records; record += 2)
        publisher.removeObject(publisher.addObject(root, 'r.passing', 'C'));
    };
    const names = () => {
      const { source } = watch.poll();
      const [seen] = source === undefined ? [] : readTree(source, capacity.slots);
      return seen?.children.map(({ name }) => name);
    };
    return { publisher, root, many, watch, takeAll, changeRoles, names };
  }

  it('removes it in bounded slices, what is below first, and only then reads on', () => {
    const { publisher, root, many, watch, takeAll, changeRoles, names } = scene();
    takeAll();
    for (const object of many.slice(1)) publisher.removeObject(object);
    changeRoles();

    const removed: StructureChange[] = [];
    let seen = watch.poll();
    expect(seen.hasMore, 'too much for one look').to.equal(true);
    publisher.addObject(root, 'r.late', 'C');
    for (;;) {
      expect(seen.changes.length).to.be.at.most(MAX_AT_ONCE);
      removed.push(...seen.changes.filter(({ kind }) => kind.endsWith('removed')));
      if (!seen.hasMore) break;
      expect(seen.source?.hasChanges(), 'there is more').to.equal(true);
      seen = watch.poll();
    }

    const gone = removed
      .map((change) => ('object' in change ? change.object : change.variable).name)
      .filter((name) => name !== 'r.passing');
    expect(gone.length).to.equal(2 * (OBJECTS - 1));
    expect(new Set(gone).size, 'each object once').to.equal(OBJECTS);
    expect(names()).to.deep.equal(['r.o0', 'r.late']);
    expect(watch.poll().hasMore).to.equal(false);
  });

  it('takes in a change of roles that comes while it removes', () => {
    const { publisher, root, many, watch, takeAll, changeRoles, names } = scene();
    takeAll();
    for (const object of many.slice(2)) publisher.removeObject(object);
    changeRoles();
    expect(watch.poll().hasMore).to.equal(true);
    publisher.removeObject(many[1] ?? root);
    changeRoles();
    changeRoles();
    publisher.addObject(root, 'r.late', 'C');
    takeAll();
    expect(names()).to.deep.equal(['r.o0', 'r.late']);
  });

  it('is not read in one go where another takes over before each look', () => {
    const { watch, takeAll, changeRoles, names } = scene();
    const looks = Array.from({ length: 10 }, () => {
      changeRoles();
      return watch.poll();
    });
    expect(looks.every(({ hasMore }) => hasMore)).to.equal(true);
    expect(looks.map(({ isUnstable = false }) => isUnstable)).to.include(true);
    takeAll();
    expect(names()).to.have.length(OBJECTS);
    expect(watch.poll()).to.deep.include({ hasMore: false, isUnstable: undefined });
  });

  it('takes one look where little is gone', () => {
    const { publisher, root, watch, takeAll, changeRoles } = scene();
    const extra = publisher.addObject(root, 'r.extra', 'C');
    takeAll();
    publisher.removeObject(extra);
    changeRoles();
    takeAll();
    expect(watch.poll()).to.deep.include({ changes: [], hasMore: false });
  });

  it('is not served with an id that was removed: it would be another object under its name', () => {
    const forge = new Forge(segments.contextId, '83', { records: 8 });
    const root = forge.object({ name: 'r' });
    const child = forge.object({ name: 'r.o', parent: root });
    forge.publish();
    forge.copyDirectory();
    const watch = segments.watch('83');
    forge.place();
    expect(watch.poll().publisher.state).to.equal('live');
    forge.tombstone(child);
    forge.publish();
    expect(watch.poll().publisher.state).to.equal('live');
    forge.flip(2);
    const { state, reason } = watch.poll().publisher;
    expect([state, reason]).to.deep.equal([
      'corrupt',
      `Segment is corrupt: id ${child} is there again, or came too late`,
    ]);
    forge.close();
  });
});
