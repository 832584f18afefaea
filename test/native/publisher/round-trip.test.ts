// Property test: makes random changes to a publisher, and reads the segment back after every few steps.
import { expect } from 'chai';
import fc from 'fast-check';
import type { ManagedObject, StructureChange, Variable } from '#app/model.js';
import type { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { PublishedModel, STEP_ACTIONS } from '../../support/published-model.js';
import { readTree } from '../../support/read-tree.js';
import { freshSegments } from '../../support/segments.js';
import type { Segments } from '../../support/segments.js';
import { anyCharacter } from '../../support/any-character.js';

const CAPACITY = { records: 40, stringBytes: 1024, slots: 48, frameBytes: 1024 };

const steps = fc.array(
  fc.record({
    action: fc.constantFrom(...STEP_ACTIONS, 'add an object', 'add a variable', 'set a variable'),
    pick: fc.nat(1000),
    number: fc.nat(1_000_000),
    text: fc.string({ unit: anyCharacter, maxLength: 20 }),
  }),
  { minLength: 1, maxLength: 400, size: 'max' },
);

/** Applies structure changes to a set of the ids of objects and variables. */
class AppliedChanges {
  readonly ids = new Set<number>();

  apply(changes: readonly StructureChange[]): void {
    for (const change of changes)
      if (change.kind === 'object-added') this.#add(change.object.id);
      else if (change.kind === 'variable-added') this.#add(change.variable.id);
      else if (change.kind === 'variable-removed') this.#remove(change.variable.id);
      else for (const { id } of flatten([change.object])) this.#remove(id);
  }

  #add(id: number): void {
    expect(this.ids.has(id), `${id} was added twice`).to.equal(false);
    this.ids.add(id);
  }

  #remove(id: number): void {
    this.ids.delete(id);
  }
}

function flatten(objects: Iterable<ManagedObject>): (ManagedObject | Variable)[] {
  return [...objects].flatMap((object) => [
    object,
    ...object.variables,
    ...flatten(object.children),
  ]);
}

/**
 * A reader and the changes it has applied. `check` polls and compares the result with the published model.
 */
function reader(poller: SegmentPoller) {
  const applied = new AppliedChanges();
  return {
    check({ model, capacity }: { model: PublishedModel; capacity: typeof CAPACITY }) {
      const { publisher, source, changes, drops } = poller.poll();
      if (source === undefined) throw new Error(publisher.reason);
      applied.apply(changes);
      expect(readTree(source, capacity.slots)).to.deep.equal(model.tree());
      const known = flatten(source.roots).map(({ id }) => id);
      expect([...applied.ids].sort()).to.deep.equal(known.sort());
      const { objectsDropped, variablesDropped } = model;
      expect(drops).to.deep.equal({ objects: objectsDropped, variables: variablesDropped });
    },
  };
}

function live(segments: Segments, run: (model: PublishedModel) => void): void {
  try {
    run(new PublishedModel(segments.publish('82', { capacity: CAPACITY })));
  } finally {
    segments.clear();
  }
}

describe('A publisher that adds and removes objects and variables at run time (segment format, section 6)', () => {
  const segments = freshSegments();

  it('never shows readers anything but the published tree', () => {
    let epochs = 0;
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 6 }), (changes, pace) =>
        live(segments, (model) => {
          const eager = reader(segments.poller('82'));
          const late = reader(segments.poller('82'));
          changes.forEach((step, index) => {
            model.run(step);
            if (index % pace === 0) eager.check({ model, capacity: CAPACITY });
            if (index % 37 === 30) late.check({ model, capacity: CAPACITY });
          });
          eager.check({ model, capacity: CAPACITY });
          late.check({ model, capacity: CAPACITY });
          epochs += segments.bytes('82').readUInt32LE(1216 + 4);
        }),
      ),
      { numRuns: 25 },
    );
    expect(epochs, 'changes of directories').to.be.above(10);
  });
});
