// One target from shared memory to answers, with real segments and a real view, in virtual time.
import { expect } from 'chai';
import { Subject } from 'rxjs';
import { compileFilters } from '#app/catalogue/match/filters.js';
import { messageOf } from '#app/errors.js';
import { Kernel } from '#app/exposition/kernel/kernel.js';
import { TargetView } from '#app/exposition/target-view.js';
import { segmentWatches } from '#app/native/segment/segment-watch.js';
import { RESTART_MS, targetPipeline } from '#app/pipeline.js';
import type { PipelineObserver } from '#app/pipeline.js';
import { unanswered } from '#app/streams/answer.js';
import type { Order } from '#app/streams/order.js';
import { RefreshQueue } from '#app/streams/refresh-queue.js';
import { ServerPool } from '#app/streams/server-pool.js';
import { CountingMemory } from './support/counting-memory.js';
import { follow } from './support/follow.js';
import { Publishers } from './support/segment-of.js';
import { VirtualClock } from './support/virtual-clock.js';

describe('targetPipeline', () => {
  const publishers = new Publishers();
  afterEach(() => publishers.closeAll());

  /** A pipeline that notes what its observer hears. */
  const run = (kernel = new Kernel(), onView = (view: TargetView) => view) => {
    const clock = new VirtualClock();
    const memory = new CountingMemory();
    const { contextId } = publishers;
    const pool = new ServerPool({
      watch: segmentWatches(memory, { contextId, poolName: 'pool' }),
      scheduler: clock,
    });
    const order$ = new Subject<Order>();
    const notes: string[] = [];
    const observer: PipelineObserver = {
      chosen: (choice) => notes.push(choice.kind),
      viewed: (view) => notes.push(view === undefined ? 'view gone' : `view of ${view.root.name}`),
      ready: (isReady) => notes.push(isReady ? 'ready' : 'not ready'),
      seen: ({ publisher }) => notes.push(publisher.state),
      failed: (error) => notes.push(`failed: ${messageOf(error)}`),
      refreshed: (tookMs) => notes.push(`refreshed in ${tookMs} ms`),
    };
    const filters = compileFilters(undefined, { classes: [], seedPathGroups: [], seedPaths: [] });
    const answers = follow(
      targetPipeline({
        app: 'demo',
        hint: '',
        serverKeys: ['82'],
        pool,
        queue: new RefreshQueue(
          () => clock.now(),
          (next) => void clock.schedule(next),
        ),
        spacingMs: 250,
        order$,
        isHeir: false,
        nowMs: () => clock.now(),
        makeView: ({ source, root }) =>
          onView(
            new TargetView({
              app: 'demo',
              kernel,
              source,
              root,
              catalogue: undefined,
              filters,
              variable: '',
              timeZone: '',
              onClash: () => undefined,
            }),
          ),
        observer,
        scheduler: clock,
      }),
    );
    let id = 0;
    const demand = (): number => {
      order$.next({ kind: 'demand', id: ++id });
      clock.advance(0);
      return id;
    };
    clock.advance(0);
    return { clock, memory, demand, order$, notes, ...answers };
  };

  it('tells its observer of each stage in order', () => {
    publishers.withRoot('82', 'H.1.demo');
    const { notes, subscription } = run();
    subscription.unsubscribe();
    expect(notes).to.deep.equal([
      'chosen',
      'view of H.1.demo',
      'not ready', // bound, and the directory's first sighting still to come
      'refreshed in 0 ms',
      'live',
      'ready',
      'refreshed in 0 ms',
      'view gone',
    ]);
  });

  it('answers each demand once, in order, with its number', () => {
    publishers.withRoot('82', 'H.1.demo');
    const { seen, demand, subscription } = run();
    const demands = [demand(), demand(), demand()];
    expect(seen.map((told) => told.kind === 'answer' && [told.id, told.outcome])).to.deep.equal(
      demands.map((id, index) => [id, index === 0 ? 'miss' : 'hit']),
    );
    subscription.unsubscribe();
  });

  it('answers demands without a snapshot while there is no root', () => {
    const { seen, demand, notes, subscription } = run();
    const asked = demand();
    expect(seen).to.deep.equal([unanswered(asked)]);
    expect(notes).to.deep.equal(['none']);
    subscription.unsubscribe();
  });

  it('starts anew after a failure that should not be, and says so meanwhile', () => {
    publishers.withRoot('82', 'H.1.demo');
    let failures = 1;
    const { clock, seen, demand, notes, subscription } = run(new Kernel(), (view) => {
      if (failures-- > 0)
        view.render = () => {
          throw new Error('out of memory');
        };
      return view;
    });
    demand();
    expect(notes).to.include('failed: out of memory');
    const meanwhile = demand();
    expect(seen.at(-1)).to.deep.equal(unanswered(meanwhile));
    clock.advance(RESTART_MS);
    const after = demand();
    expect(seen.at(-1)).to.deep.include({ id: after, outcome: 'miss' });
    subscription.unsubscribe();
  });

  it('makes a new view for each generation and closes the one before it', () => {
    const publisher = publishers.withRoot('82', 'H.1.demo');
    const kernel = new Kernel();
    const { clock, notes, subscription } = run(kernel);
    publisher.close();
    clock.advance(1000);
    const without = kernel.arena.used;
    publishers.withRoot('82', 'H.1.demo');
    clock.advance(1000);
    const stages = notes.filter((note) => !note.startsWith('refreshed') && !note.includes('ready'));
    expect(stages).to.deep.equal([
      ...['chosen', 'view of H.1.demo', 'live', 'none', 'view gone', 'none'],
      ...['chosen', 'view of H.1.demo', 'live'],
    ]);
    subscription.unsubscribe();
    expect(kernel.arena.used).to.equal(without);
  });

  it('leaves its demands, its segment and its memory with its consumer', () => {
    publishers.withRoot('82', 'H.1.demo');
    const kernel = new Kernel();
    const before = kernel.arena.used;
    const { demand, order$, memory, clock, seen, subscription } = run(kernel);
    demand();
    expect(order$.observed).to.equal(true);
    subscription.unsubscribe();
    expect(order$.observed).to.equal(false);
    expect(memory.isOpen).to.equal(0);
    expect(kernel.arena.used).to.equal(before);
    demand();
    clock.advance(1000);
    expect(seen).to.have.length(1);
  });
});
