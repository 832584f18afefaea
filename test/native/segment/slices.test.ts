// Property test: reads the directory of a segment in slices while the publisher changes it.
import { expect } from 'chai';
import fc from 'fast-check';
import { Budget } from '#app/budget.js';
import type { ManagedObject, Source } from '#app/model.js';
import type { PublishedObject } from '#app/native/publisher/publisher-options.js';
import { posixMemory } from '#app/native/os/posix.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { freshSegments } from '../../support/segments.js';

const capacity = { records: 512, slots: 512, stringBytes: 1 << 16, frameBytes: 4096 };

const namesBelow = ({ name, variables, children }: ManagedObject): readonly unknown[] => [
  name,
  [...variables].map((variable) => variable.name),
  [...children].map(namesBelow),
];
const treeOf = (source: Source | undefined) => [...(source?.roots ?? [])].map(namesBelow);

describe('A directory that is read in slices', () => {
  const segments = freshSegments();

  it('has the published tree, for any slice size and any concurrent changes', () => {
    const step = fc.tuple(
      fc.constantFrom('root', 'object', 'object', 'variable', 'variable', 'gone', 'roles', 'poll'),
      fc.nat(1000),
      fc.integer({ min: 1, max: 100 }),
    );
    let runs = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const key = String(runs++);
        const publisher = segments.publish(key, { capacity, heartbeatMs: 0 });
        let budget = 1;
        const poller = new SegmentPoller(posixMemory(), segments.name(key), key, {
          budget: () => new Budget({ steps: budget }),
        });
        const keeper = publisher.addRoot('keeper', 'C');
        const objects: PublishedObject[] = [];
        for (const [what, pick, slice] of steps) {
          const object = objects[pick % Math.max(1, objects.length)] ?? keeper;
          if (what === 'poll') {
            budget = slice;
            poller.poll();
          } else if (what === 'root') objects.push(publisher.addRoot(`r${pick}`, 'C'));
          else if (what === 'object')
            objects.push(publisher.addObject(object, `${object.name}.o${pick}`, 'C'));
          else if (what === 'variable') publisher.addVariable(object, `v${pick}`, 'u64').set(1);
          else if (what === 'gone' && object !== keeper) {
            publisher.removeObject(object);
            objects.splice(0); // some of the listed objects were below the removed one
          } else if (what === 'roles')
            for (let record = 0; record < capacity.records; record += 2)
              publisher.removeObject(publisher.addObject(keeper, 'keeper.passing', 'C'));
        }
        let seen = poller.poll();
        for (let polls = 0; seen.hasMore || seen.isReclaiming === true; polls++) {
          expect(polls, 'it ends').to.be.below(10_000);
          seen = poller.poll();
        }
        const whole = segments.poller(key);
        expect(treeOf(seen.source)).to.deep.equal(treeOf(whole.poll().source));
        poller.close();
        publisher.close();
      }),
      { numRuns: 40 },
    );
  });
});
