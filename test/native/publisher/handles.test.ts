// Tests that the handles through which programs store values stay valid or fail safely.
import { expect } from 'chai';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { readTree } from '../../support/read-tree.js';
import type { PlainObject } from '../../support/read-tree.js';
import { TINY, freshSegments } from '../../support/segments.js';

describe('The handles of published variables (segment format, section 6)', () => {
  const segments = freshSegments();
  const seen = (): PlainObject[] => {
    const { source } = segments.poller('82').poll();
    return source === undefined ? [] : readTree(source, TINY.slots);
  };

  /** Publishes an object with one handle of each type. */
  function handlesOf(publisher: Publisher) {
    const root = publisher.addRoot('r', 'C');
    const object = publisher.addObject(root, 'r.o', 'C');
    const schema = [1, 2];
    return {
      root,
      object,
      stores: {
        u64: [publisher.addVariable(object, 'u64', 'u64'), 1n],
        i64: [publisher.addVariable(object, 'i64', 'i64'), -1n],
        f64: [publisher.addVariable(object, 'f64', 'f64'), 0.5],
        bool: [publisher.addVariable(object, 'bool', 'bool'), false],
      } as const,
      text: publisher.addVariable(object, 'text', 'string'),
      histogram: publisher.addVariable(object, 'histogram', 'histogram', { schema }),
      summary: publisher.addVariable(object, 'summary', 'summary', { schema: [0.5] }),
    };
  }

  /** Stores a value through every handle and returns the results. */
  function storeAll({ stores, text, histogram, summary }: ReturnType<typeof handlesOf>): boolean[] {
    return [
      ...Object.values(stores).flatMap(([handle, value]) => [
        handle.set(value),
        handle.add(Number(value) || 1),
      ]),
      ...[text.set('x'), histogram.observe(1), histogram.set([1, 1, 1], 3)],
      ...[summary.set(1, 1, [1]), stores.u64[0].unset(), text.unset()],
    ];
  }

  it('accept every value while their variable exists', () => {
    const handles = handlesOf(segments.publish('82'));
    expect(new Set(storeAll(handles))).to.deep.equal(new Set([true]));
  });

  it('refuse values once their object is removed, and do not change the new owners of their slots', () => {
    const publisher = segments.publish('82', { capacity: { ...TINY, slots: 12 } });
    const handles = handlesOf(publisher);
    publisher.removeObject(handles.root);
    expect(new Set(storeAll(handles)), 'before anybody has their slots').to.deep.equal(
      new Set([false]),
    );
    // New variables take all the freed slots.
    const root = publisher.addRoot('new', 'C');
    const added = Array.from({ length: 10 }, (_, i) => publisher.addVariable(root, `v${i}`, 'u64'));
    added.forEach((handle, index) => handle.set(index));
    expect(added.filter(({ ref }) => (ref?.incarnation ?? 0) > 1).length).to.be.above(7);
    const before = segments.bytes('82').toString('latin1');
    expect(new Set(storeAll(handles))).to.deep.equal(new Set([false]));
    expect(publisher.setState(handles.object, 'dead')).to.equal(false);
    expect(publisher.setSynced(handles.object, false)).to.equal(false);
    expect(publisher.setAsOf(handles.root, 1n)).to.equal(false);
    publisher.removeObject(handles.object);
    publisher.removeVariable(handles.text);
    expect(segments.bytes('82').toString('latin1') === before, 'untouched').to.equal(true);
  });

  it('refuse values if the segment had no space for their variable', () => {
    const publisher = segments.publish('82', { capacity: { ...TINY, slots: 2 } });
    const handles = handlesOf(publisher);
    const before = segments.bytes('82').toString('latin1');
    expect(handles.object.id).to.equal(0);
    expect(new Set(storeAll(handles))).to.deep.equal(new Set([false]));
    expect(publisher.setState(handles.object, 'dead')).to.equal(false);
    expect(segments.bytes('82').toString('latin1') === before, 'untouched').to.equal(true);
  });

  it('stay valid through many changes of the directory', () => {
    const publisher = segments.publish('82');
    const handles = handlesOf(publisher);
    const watch = segments.poller('82');
    for (let round = 0; round < 500; round++)
      publisher.removeObject(publisher.addObject(handles.root, `r.client${round}`, 'Client'));
    expect(segments.bytes('82').readUInt32LE(1220), 'epoch').to.be.above(5);
    storeAll(handles);
    handles.stores.u64[0].set(77);
    const [root] = readTree(watch.poll().source ?? expect.fail('no source'), TINY.slots);
    expect(root?.children.map(({ name }) => name)).to.deep.equal(['r.o']);
    const values = root?.children[0]?.variables.map(({ name, value }) => [name, value]);
    expect(values?.slice(0, 4)).to.deep.equal([
      ['u64', 77n],
      ['i64', -2n],
      ['f64', 1],
      ['bool', 1n],
    ]);
  });

  it('refuse values once their publisher has closed, and create no file', () => {
    const publisher = segments.publish('82');
    const handles = handlesOf(publisher);
    publisher.close();
    expect(new Set(storeAll(handles))).to.deep.equal(new Set([false]));
    expect(publisher.setState(handles.object, 'dead')).to.equal(false);
    publisher.beat();
    publisher.notify();
    publisher.removeVariable(handles.text);
    publisher.removeObject(handles.root);
    expect(publisher.addRoot('late', 'C').id).to.equal(0);
    expect(publisher.addVariable(handles.root, 'late', 'u64').set(1)).to.equal(false);
    publisher.close();
    expect(segments.files()).to.deep.equal([]);
  });

  it('can be cloned and logged without a read of the segment', () => {
    const publisher = segments.publish('82');
    const handle = publisher.addVariable(publisher.addRoot('r', 'C'), 'v', 'u64');
    handle.set(1);
    expect(structuredClone(handle)).to.deep.equal({ ref: { slot: 2, incarnation: 1 } });
    expect(JSON.stringify(handle)).to.equal('{"ref":{"slot":2,"incarnation":1}}');
  });

  it('write a value with one plain store, and change no other byte of the segment (segment format, section 5)', () => {
    const publisher = segments.publish('82');
    const { stores } = handlesOf(publisher);
    stores.u64[0].set(1);
    const before = segments.bytes('82');
    stores.u64[0].set(0x0102030405060708n);
    const after = segments.bytes('82');
    const moved = [...after.keys()].filter((at) => after[at] !== before[at]);
    const { slot = 0 } = stores.u64[0].ref ?? {};
    const at = Number(before.readBigUInt64LE(144)) + slot * 8;
    expect(moved).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7].map((byte) => at + byte));
  });

  it('store values that readers see even without a notification (segment format, section 5)', () => {
    const publisher = segments.publish('82');
    const { stores } = handlesOf(publisher);
    const watch = segments.poller('82');
    const { notifications } = watch.poll();
    stores.u64[0].set(5);
    expect(watch.poll().notifications).to.equal(notifications);
    expect(seen()[0]?.children[0]?.variables[0]?.value).to.equal(5n);
    publisher.notify();
    expect(watch.poll().notifications).to.equal(notifications + 1);
  });
});
