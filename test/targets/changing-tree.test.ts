// Tests a tree that grows and shrinks over many polls while the target's task is divided into slices.
import { expect } from 'chai';
import fc from 'fast-check';
import { map } from 'rxjs';
import { CatalogueCache } from '#app/catalogue/builtin.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import type { DemandAnswer, ManagedObject } from '#app/model.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import { Scheduler, TaskQueue } from '#app/streams/scheduler.js';
import { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { testView } from '../exposition/test-view.js';
import { definitionOf } from '../support/definition-of.js';
import { FakePoller } from '../support/fake-poller.js';
import type { FakeSource } from '../support/fake-source.js';
import { follow } from '../support/follow.js';
import { RandomTree, changeTree } from '../support/random-tree.js';
import type { TreeStep } from '../support/random-tree.js';
import { runToEnd } from '#app/run-to-end.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** The time between two slices. It is long enough for several polls during one task. */
const TURN_MS = 30;
/** No task in this test takes longer. */
const SETTLED_MS = 30_000;
/** All targets and views share this kernel, because creating a kernel takes longer than running a script. */
const KERNEL = new Kernel();

type Action = TreeStep[0] | 'notify' | 'wait' | 'demand' | 'compare';
const actions: fc.Arbitrary<Action> = fc.constantFrom(
  ...(['add', 'add', 'add', 'add', 'variable', 'variable', 'remove', 'drop', 'store'] as const),
  ...(['notify', 'wait', 'wait', 'wait', 'wait', 'demand', 'compare'] as const),
);
const scripts = fc.record({
  steps: fc.array(fc.tuple(actions, fc.nat(200), fc.boolean()), {
    minLength: 20,
    maxLength: 200,
    size: 'max',
  }),
  /**
   * The number of steps before the target starts. `isReady` says whether the target becomes ready before
   * the remaining steps.
   */
  start: fc.nat(60),
  isReady: fc.nat(3).map((number) => number > 0),
  /** The number of steps in each slice, and the number of changes in each poll. */
  slice: fc.integer({ min: 1, max: 24 }),
  portion: fc.constantFrom(2, 5, 1000),
  renderMinIntervalMs: fc.constantFrom(0, 1),
});

function pageOf(answer: DemandAnswer): string {
  if (answer.kind === 'waiting') return 'waiting';
  const { buffers, release } = TEXT.page({ ...answer, internal: [] });
  const text = Buffer.concat(buffers).toString();
  release();
  return text;
}

/** Returns the page of a view that binds the whole tree at once. */
function freshPage(source: FakeSource, root: ManagedObject): string {
  const { view } = testView(source, root, { kernel: KERNEL });
  while (view.bindMore());
  runToEnd(view.copyingValues());
  const snapshot = runToEnd(view.rendering());
  const status = {} as Extract<DemandAnswer, { kind: 'ready' }>['status'];
  const text = pageOf({ kind: 'ready', snapshot, internal: [], status, labels: {} });
  runToEnd(view.closing());
  return text;
}

/** Serves a random tree in a partition whose time slices have only a few steps. */
function serve(
  { source }: RandomTree,
  {
    slice,
    portion,
    renderMinIntervalMs,
  }: Record<'slice' | 'portion' | 'renderMinIntervalMs', number>,
) {
  const clock = new VirtualClock();
  let reads = 0;
  const nowMs = () => clock.now();
  const tasks = new Scheduler(
    () => nowMs() + reads++,
    (next) => void clock.schedule(next, TURN_MS),
  );
  const poller = new FakePoller(source, portion);
  const pool = new PollerPool({ makePoller: () => poller, scheduler: clock, tasks });
  const bindLimits = () => ({ steps: slice });
  const thread = { pools: () => pool, catalogues: new CatalogueCache(), tasks, nowMs, bindLimits };
  const target = new ServedTarget({
    definition: definitionOf({ app: 'shop', renderMinIntervalMs }),
    partition: new LogicalPartition(
      0,
      { ...thread, scheduler: clock },
      new TaskQueue(tasks, nowMs),
      () => KERNEL,
    ),
    ...{ rebalances: { moves: 0, lastMs: 0 }, unixMs: () => 0, nowMs, scheduler: clock },
  });
  return { clock, poller, target, ...follow(target.run()) };
}

describe('a target on a tree that changes during its tasks', () => {
  it('shows the same page as a new view of the changed tree', () => {
    let compared = 0;
    fc.assert(
      fc.property(scripts, ({ steps, start, isReady, ...given }) => {
        const tree = new RandomTree();
        for (const step of steps.slice(0, start)) changeTree(tree, [step[0], step[1], true]);
        const { clock, poller, target, subscription } = serve(tree, given);
        if (isReady) clock.advance(SETTLED_MS);
        const open: { readonly seen: readonly string[] }[] = [];
        const demand = () => follow(target.demand().pipe(map(pageOf)));
        const compare = (): void => {
          // Let the minimum interval pass. Before that, a demand gets the last render, which may lack
          // recent changes.
          if (given.renderMinIntervalMs > 0) clock.advance(SETTLED_MS);
          // Remove the limit on changes per poll: a refresh that polls for more than a second shows only a
          // part of the tree.
          poller.portion = Infinity;
          const last = demand();
          for (let ms = 0; last.seen.length === 0 && ms < SETTLED_MS; ms += TURN_MS)
            clock.advance(TURN_MS);
          poller.portion = given.portion;
          if (last.seen[0] === 'waiting') return;
          compared++;
          expect(last.seen.join()).to.equal(freshPage(tree.source, tree.root));
        };
        for (const step of steps.slice(start)) {
          changeTree(tree, step);
          const [action, pick] = step;
          if (action === 'notify') poller.notifications++;
          if (action === 'wait') clock.advance(pick);
          if (action === 'demand') open.push(demand());
          if (action === 'compare') compare();
        }
        clock.advance(SETTLED_MS);
        for (const { seen } of open) expect(seen, 'one answer a demand').to.have.length(1);
        compare();
        subscription.unsubscribe();
        clock.advance(SETTLED_MS);
      }),
      { numRuns: 30, endOnFailure: true },
    );
    expect(compared, 'compared pages').to.be.above(40);
  });
});
