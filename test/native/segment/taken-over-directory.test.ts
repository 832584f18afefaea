// Tests the removal of items that the new active directory no longer has, in bounded slices.
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import type { StructureChange } from '#app/model.js';
import { MAX_BATCH_RECORDS } from '#app/native/segment/directory-reader.js';
import { RECORD, RECORD_SIZE } from '#app/native/segment/layout.js';
import { Forge } from '../../torture/forge.js';
import { readTree } from '../../support/read-tree.js';
import { freshSegments } from '../../support/segments.js';

const OBJECTS = 2000;
/** The maximum number of changes in one poll: one slice of records and one slice of removals. */
const MAX_AT_ONCE = 2 * MAX_BATCH_RECORDS;
const capacity = { records: 1 << 13, slots: 1 << 13, stringBytes: 1 << 20, frameBytes: 4096 };

describe('A directory that becomes active without some of the known items', () => {
  const segments = freshSegments();

  function setUp() {
    const publisher = segments.publish('82', { capacity, heartbeatMs: 0 });
    const root = publisher.addRoot('r', 'C');
    const many = Array.from({ length: OBJECTS }, (_, n) => {
      const object = publisher.addObject(root, `r.o${n}`, 'C');
      publisher.addVariable(object, 'v', 'u64').set(n);
      return object;
    });
    const watch = segments.poller('82');
    const pollAll = () => {
      while (watch.poll().hasMore);
    };
    /** Writes as many records as a directory holds, so that the directories change roles once or twice. */
    const changeRoles = () => {
      for (let record = 0; record < capacity.records; record += 2)
        publisher.removeObject(publisher.addObject(root, 'r.passing', 'C'));
    };
    const names = () => {
      const { source } = watch.poll();
      const [seen] = source === undefined ? [] : readTree(source, capacity.slots);
      return seen?.children.map(({ name }) => name);
    };
    return { publisher, root, many, watch, pollAll, changeRoles, names };
  }

  it('causes the removal of the missing items, children first, in bounded slices, before further records are read', () => {
    const { publisher, root, many, watch, pollAll, changeRoles, names } = setUp();
    pollAll();
    for (const object of many.slice(1)) publisher.removeObject(object);
    changeRoles();

    const removed: StructureChange[] = [];
    let seen = watch.poll();
    expect(seen.hasMore, 'too much for one poll').to.equal(true);
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

  it('may be replaced by the other directory during the removals', () => {
    const { publisher, root, many, watch, pollAll, changeRoles, names } = setUp();
    pollAll();
    for (const object of many.slice(2)) publisher.removeObject(object);
    changeRoles();
    expect(watch.poll().hasMore).to.equal(true);
    publisher.removeObject(many[1] ?? root);
    changeRoles();
    changeRoles();
    publisher.addObject(root, 'r.late', 'C');
    pollAll();
    expect(names()).to.deep.equal(['r.o0', 'r.late']);
  });

  it('is not read completely while the directories change roles before each poll', () => {
    const { watch, pollAll, changeRoles, names } = setUp();
    const polls = Array.from({ length: 10 }, () => {
      changeRoles();
      return watch.poll();
    });
    expect(polls.every(({ hasMore }) => hasMore)).to.equal(true);
    expect(polls.map(({ isUnstable = false }) => isUnstable)).to.include(true);
    pollAll();
    expect(names()).to.have.length(OBJECTS);
    const { hasMore, isUnstable } = watch.poll();
    expect([hasMore, isUnstable]).to.deep.equal([false, undefined]);
  });

  it('is read in one poll if it lacks only a few items', () => {
    const { publisher, root, watch, pollAll, changeRoles } = setUp();
    const extra = publisher.addObject(root, 'r.extra', 'C');
    pollAll();
    publisher.removeObject(extra);
    changeRoles();
    pollAll();
    expect(watch.poll()).to.deep.include({ changes: [], hasMore: false });
  });

  it('makes the segment corrupt if it reuses the id of a removed object', () => {
    const forge = new Forge(segments.contextId, '83', { records: 8 });
    const root = forge.object({ name: 'r' });
    const child = forge.object({ name: 'r.o', parent: root });
    forge.publish();
    forge.copyDirectory();
    const watch = segments.poller('83');
    forge.place();
    expect(watch.poll().publisher.state).to.equal('live');
    forge.tombstone(child);
    forge.publish();
    expect(watch.poll().publisher.state).to.equal('live');
    forge.flip(2);
    const { state, reason } = watch.poll().publisher;
    expect([state, reason]).to.deep.equal([
      'corrupt',
      `Segment is corrupt: id ${child} is repeated, or out of order`,
    ]);
    forge.close();
  });

  it('makes the segment corrupt if it repeats a variable below another object', () => {
    const forge = new Forge(segments.contextId, '84', { records: 8 });
    const root = forge.object({ name: 'r' });
    const variable = forge.variable({ owner: root, name: 'v' });
    const other = forge.object({ name: 'r.o', parent: root });
    forge.publish();
    forge.copyDirectory();
    const record = forge.layout.directories[1] + RECORD_SIZE;
    forge.bytes.writeBigUInt64LE(BigInt(other), record + RECORD.owner);
    const signed = forge.bytes.subarray(record + 4, record + RECORD_SIZE);
    forge.bytes.writeUInt32LE(crc32(signed), record);
    const watch = segments.poller('84');
    forge.place();
    expect(watch.poll().publisher.state).to.equal('live');
    forge.flip(3);
    const { state, reason } = watch.poll().publisher;
    expect([state, reason]).to.deep.equal([
      'corrupt',
      `Segment is corrupt: id ${variable} is repeated, or out of order`,
    ]);
    forge.close();
  });
});
