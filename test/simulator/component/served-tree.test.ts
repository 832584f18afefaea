import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import type { ServedObject } from '#app/simulator/component/served-tree.js';
import { LiveTree, planPlainTree } from '#app/simulator/live-tree.js';
import type { ObjectPublisher } from '#app/simulator/live-tree.js';
import { Random } from '#app/simulator/course.js';
import { parseScenario } from '#app/simulator/scenario.js';
import { stageOf } from '#app/simulator/simulation.js';
import { planTree } from '#app/simulator/tree-plan.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';
import { readTree } from '../../support/read-tree.js';
import type { PlainObject, PlainVariable } from '../../support/read-tree.js';
import { freshSegments } from '../../support/segments.js';

const ROOM = { records: 1 << 16, slots: 1 << 15, stringBytes: 1 << 22, frameBytes: 1 << 22 };

/** What both a segment and a served tree can say. */
interface Common {
  readonly id: string;
  readonly className: string;
  readonly state: string;
  readonly variables: readonly (readonly unknown[])[];
  readonly children: readonly Common[];
}

const ofServed = ({ id, className, state, variables, children }: ServedObject): Common => ({
  id,
  className,
  state,
  variables: [...variables]
    .filter(({ type }) => type !== 'histogram' && type !== 'summary')
    .map(({ name, type, kind, value }) => [name, type, kind, value]),
  children: [...children].map(ofServed),
});

const ofSegment = ({ name, className, state, variables, children }: PlainObject): Common => ({
  id: name,
  className,
  state,
  variables: variables
    .filter(({ type }) => type !== 'histogram' && type !== 'summary')
    .map((each) => [each.name, each.type, each.kind, valueOf(each)]),
  children: children.map(ofSegment),
});

function valueOf({ type, value }: PlainVariable): unknown {
  if (type === 'bool' && value !== undefined) return value !== 0n;
  return type === 'string' && typeof value === 'object' && 'text' in value ? value.text : value;
}

describe('ServedTree', () => {
  const segments = freshSegments();

  /** What the same simulation leaves in a segment and in a served tree. */
  function both(run: (publisher: ObjectPublisher) => void): readonly [Common[], Common[]] {
    const publisher = segments.publish('80', { capacity: ROOM });
    run(publisher);
    const { source } = segments.watch('80').look();
    if (source === undefined) throw new Error('The segment cannot be read');
    const tree = new ServedTree();
    run(tree);
    return [Array.from(tree.roots, ofServed), readTree(source, ROOM.slots).map(ofSegment)];
  }

  it('holds what a segment would, through the steps of a scenario', () => {
    const [root = ''] = ODD_SCENARIO.objects.map(({ id }) => id);
    const scenario = {
      ...ODD_SCENARIO,
      steps: [
        {
          after_ms: 0,
          set: {
            [`${root}.numbers`]: { zero: 7, 'most of u64': '5', tenth: 'Infinity' },
            // Longer than the room that a text gets.
            [`${root}.texts`]: { answer: 'ä'.repeat(100), greek: '\ud800 alone' },
          },
          remove: [`${root}.mount.7`, `${root}.trailing.`],
          state: { [root]: 'dead' },
          add: [
            { id: `${root}.mount.8`, parent: root, class: 'C', variables: {} },
            { id: `${root}.mount.7`, parent: root, class: 'D', variables: { n: { type: 'u64' } } },
          ],
          sync: [`${root}.mount.8`],
        },
      ],
    };
    const [served, published] = both((publisher) => {
      const parsed = parseScenario(JSON.stringify(scenario), 'scenario');
      const stage = stageOf(publisher, parsed);
      for (const step of parsed.steps) stage.play(step);
    });
    expect(served).to.deep.equal(published);
    expect(JSON.stringify(served.map(({ id }) => id))).to.include('desk.example.com.1.adh');
  });

  for (const app of ['ads', 'shop'])
    it(`holds what a segment would, while a generated tree of ${app} lives`, () => {
      const catalogue = loadCatalogues().get(app);
      const plan = catalogue === undefined ? planPlainTree(60) : planTree(catalogue, 60);
      const [served, published] = both((publisher) => {
        const tree = new LiveTree(publisher, `h.1.${app}`, plan, new Random(3));
        for (let beat = 0; beat < 100; beat++) tree.beat(0.3);
        expect(tree.dropped).to.equal(0);
      });
      expect(served).to.deep.equal(published);
    });

  it('keeps nothing below what is gone', () => {
    const tree = new ServedTree();
    const root = tree.addRoot('h.1.x', 'C');
    const object = tree.addObject(root, 'h.1.x.a', 'C');
    const below = tree.addObject(object, 'h.1.x.a.b', 'C');
    const value = tree.addVariable(below, 'v', 'u64');
    expect(value.set(1)).to.equal(true);
    tree.removeObject(object);
    expect(value.set(2)).to.equal(false);
    expect(value.add(2)).to.equal(false);
    expect(tree.setState(below, 'dead')).to.equal(false);
    expect(tree.setSynced(below)).to.equal(false);
    expect(tree.addObject(below, 'late', 'C').id).to.equal(0);
    expect(tree.addVariable(below, 'late', 'string').set('x')).to.equal(false);
    tree.removeObject(object);
    expect(Array.from(tree.roots, ofServed)).to.deep.equal([
      { id: 'h.1.x', className: 'C', state: 'normal', variables: [], children: [] },
    ]);
  });
});
