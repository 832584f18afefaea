// Tests the pipelines of one target, from shared memory to reports, on real segments in virtual time.
import { expect } from 'chai';
import { BehaviorSubject, Subject, asyncScheduler, map } from 'rxjs';
import { compileFilters } from '#app/catalogue/match/filters.js';
import { newCounters } from '#app/exposition/counters.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { TargetView } from '#app/exposition/target-view.js';
import { segmentPollers } from '#app/native/segment/segment-poller.js';
import { RESTART_MS, hostingPipeline, servingPipeline } from '#app/pipeline.js';
import type { HostingUpdate } from '#app/pipeline.js';
import type { Demand } from '#app/streams/throttle-renders.js';
import { TaskQueue } from '#app/streams/scheduler.js';
import { unknownState } from '#app/streams/report.js';
import type { Refresh } from '#app/model.js';
import type { Report } from '#app/streams/report.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import { CountingMemory } from './support/counting-memory.js';
import { definitionOf } from './support/definition-of.js';
import { follow } from './support/follow.js';
import { marbles } from './support/marbles.js';
import { schedulerOf } from './support/scheduler-of.js';
import { Publishers } from './support/publishers.js';
import { VirtualClock } from './support/virtual-clock.js';

describe('hostingPipeline', () => {
  const publishers = new Publishers();
  afterEach(() => publishers.closeAll());

  /** Describes an update in a short text. */
  const worded = (update: HostingUpdate): string => {
    if (update.kind === 'root')
      return update.choice.kind === 'none'
        ? `waiting on ${update.choice.reason}`
        : `root ${update.choice.root.name}`;
    if (update.kind === 'no-root') return 'refresh without a root';
    const { input, isReady, hasRendered, snapshot } = update;
    const shown = `${hasRendered ? ' renders' : ''}${snapshot === undefined ? '' : ' a text'}`;
    return `${input.kind}${isReady ? ' ready' : ''}${shown}`;
  };

  const run = (kernel = new Kernel(), onView = (view: TargetView) => view) => {
    const clock = new VirtualClock();
    const memory = new CountingMemory();
    const { contextId } = publishers;
    const tasks = schedulerOf(clock);
    const pool = new PollerPool({
      makePoller: segmentPollers(memory, { contextId, poolName: 'pool' }),
      scheduler: clock,
      tasks,
    });
    const openRefresh$ = new BehaviorSubject<Refresh | undefined>(undefined);
    const tookMs: number[] = [];
    const queue = new TaskQueue(tasks, () => clock.now());
    const filters = compileFilters(undefined, { classes: [], seedPathGroups: [], seedPaths: [] });
    const update$ = hostingPipeline({
      definition: definitionOf(),
      pool,
      tasks,
      queue,
      openRefresh$,
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
            showUncatalogued: false,
            pathLabels: () => ({}),
            timeZone: '',
            onClash: () => undefined,
          }),
        ),
      onTaskEnd: (times) => tookMs.push(times.tookMs),
      scheduler: clock,
    });
    const updates = follow(
      update$.pipe(
        map((update) => {
          const isAnswer = update.kind === 'processed' && update.input.kind === 'refresh';
          if (update.kind === 'no-root' || isAnswer) openRefresh$.next(undefined);
          return worded(update);
        }),
      ),
    );
    const refresh = (mayRender = true): string => {
      const before = updates.seen.length;
      openRefresh$.next({ kind: 'refresh', mayRender, forms: [] });
      clock.advance(0);
      return updates.seen.slice(before).join(', ');
    };
    clock.advance(0);
    return { clock, memory, openRefresh$, tasks, refresh, tookMs, ...updates };
  };
  const NO_ROOT = 'waiting on a root of application demo; server key 82: no segment';

  it('finds its root, completes the first full sync and renders a text', () => {
    publishers.withRoot('82', 'H.1.demo');
    const { seen, refresh, tookMs, subscription } = run();
    expect(seen).to.deep.equal([
      'root H.1.demo',
      'bind', // before the first poll result of the directory
      'poll ready',
    ]);
    expect(refresh()).to.equal('refresh ready renders a text');
    expect(tookMs).to.deep.equal([0, 0]);
    subscription.unsubscribe();
  });

  it('is not ready until it has read the directory changes that a publisher made during a copy', () => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.place();
    let late = 1;
    const { seen, clock, subscription } = run(new Kernel(), (view) => {
      const refreshing = view.copyingValues.bind(view);
      view.copyingValues = () => {
        if (late-- > 0) publisher.addObject(root, 'H.1.demo.late', 'Late');
        return refreshing();
      };
      return view;
    });
    expect(seen.at(-1)).to.equal('poll');
    clock.advance(200);
    expect(seen).to.include('poll ready');
    subscription.unsubscribe();
  });

  it('becomes ready even if the directory grows during each copy', () => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.place();
    let number = 0;
    const { seen, clock, subscription } = run(new Kernel(), (view) => {
      const refreshing = view.copyingValues.bind(view);
      view.copyingValues = () => {
        publisher.addObject(root, `H.1.demo.${++number}`, 'Late');
        return refreshing();
      };
      return view;
    });
    clock.advance(200);
    expect(seen).to.include('poll ready');
    subscription.unsubscribe();
  });

  it('answers with all objects even if their directory needs several polls', () => {
    const publisher = publishers.make('82', {
      capacity: { records: 60_000, slots: 60_000, stringBytes: 1 << 22 },
    });
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.place();
    let objects = 0;
    const { seen, refresh, clock, subscription } = run(new Kernel(), (view) => {
      const rendering = view.rendering.bind(view);
      view.rendering = () => {
        objects = view.counts.objects.synced;
        return rendering();
      };
      return view;
    });
    refresh();
    expect(objects).to.equal(1);
    for (let i = 0; i < 10_000; i++) publisher.addObject(root, `H.1.demo.${i}`, 'Late');
    refresh();
    const renders = () => seen.filter((update) => update === 'refresh ready renders a text').length;
    for (let rounds = 0; renders() < 2 && rounds < 100; rounds++) clock.advance(0);
    expect(objects).to.equal(10_001);
    subscription.unsubscribe();
  });

  it('answers each refresh once', () => {
    publishers.withRoot('82', 'H.1.demo');
    const { refresh, subscription } = run();
    expect([refresh(), refresh(), refresh(false)]).to.deep.equal([
      'refresh ready renders a text',
      'refresh ready a text',
      'refresh ready a text',
    ]);
    subscription.unsubscribe();
  });

  it('answers a refresh with the objects that exist when the task of the refresh starts', () => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.place();
    let objects = 0;
    const { clock, openRefresh$, refresh, subscription } = run(new Kernel(), (view) => {
      const rendering = view.rendering.bind(view);
      view.rendering = () => {
        objects = view.counts.objects.synced;
        return rendering();
      };
      return view;
    });
    refresh();
    openRefresh$.next({ kind: 'refresh', mayRender: true, forms: [] });
    publisher.addObject(root, 'H.1.demo.late', 'Late');
    clock.advance(0);
    expect(objects).to.equal(2);
    subscription.unsubscribe();
  });

  it('answers a refresh before it runs background work', () => {
    publishers.withRoot('82', 'H.1.demo');
    const { clock, openRefresh$, tasks, seen, subscription } = run();
    const others: boolean[] = [];
    for (let other = 0; other < 3; other++)
      tasks.start(() => {
        others.push(seen.some((update) => update.startsWith('refresh')));
        return true;
      });
    openRefresh$.next({ kind: 'refresh', mayRender: true, forms: [] });
    clock.advance(0);
    expect(seen.at(-1)).to.equal('refresh ready renders a text');
    expect(others).to.deep.equal([true, true, true]);
    subscription.unsubscribe();
  });

  it('answers refreshes while there is no root', () => {
    const { seen, refresh, subscription } = run();
    expect(seen.map((update) => update.slice(0, NO_ROOT.length))).to.deep.equal([NO_ROOT]);
    expect(refresh()).to.equal('refresh without a root');
    subscription.unsubscribe();
  });

  it('answers a refresh once if the root is lost before the task of the refresh', () => {
    const publisher = publishers.withRoot('82', 'H.1.demo');
    const { clock, openRefresh$, seen, refresh, subscription } = run();
    refresh();
    const before = seen.length;
    openRefresh$.next({ kind: 'refresh', mayRender: true, forms: [] });
    publisher.close();
    clock.advance(0);
    clock.advance(1000);
    const answers = seen.slice(before).filter((update) => update.startsWith('refresh'));
    expect(answers).to.have.length(1);
    subscription.unsubscribe();
  });

  it('restarts after an unexpected failure, and reports the reason of the failure first', () => {
    publishers.withRoot('82', 'H.1.demo');
    let failures = 1;
    const { clock, seen, refresh, subscription } = run(new Kernel(), (view) => {
      if (failures-- > 0)
        view.rendering = () => {
          throw new Error('out of memory');
        };
      return view;
    });
    // The answer to the failed refresh has no text.
    expect(refresh()).to.equal(
      'waiting on a restart after a failure: out of memory, refresh without a root',
    );
    expect(refresh()).to.equal('refresh without a root');
    clock.advance(RESTART_MS);
    expect(seen.at(-1)).to.equal('poll ready');
    expect(refresh()).to.equal('refresh ready renders a text');
    subscription.unsubscribe();
  });

  it('creates a new view for each generation, and closes the previous view', () => {
    const publisher = publishers.withRoot('82', 'H.1.demo');
    const kernel = new Kernel();
    const { clock, seen, subscription } = run(kernel);
    publisher.close();
    clock.advance(1000);
    const without = kernel.arena.used;
    publishers.withRoot('82', 'H.1.demo');
    clock.advance(1000);
    const roots = seen.filter((update) => /^(root|waiting)/.test(update));
    expect(roots.map((update) => update.split(' ').slice(0, 2).join(' '))).to.deep.equal([
      ...['root H.1.demo', 'waiting on', 'waiting on', 'root H.1.demo'],
    ]);
    subscription.unsubscribe();
    clock.advance(0);
    expect(kernel.arena.used).to.equal(without);
  });

  it('closes its segment, frees its memory and stops answering refreshes when it is unsubscribed', () => {
    publishers.withRoot('82', 'H.1.demo');
    const kernel = new Kernel();
    const before = kernel.arena.used;
    const { refresh, openRefresh$, memory, clock, subscription } = run(kernel);
    refresh();
    expect(openRefresh$.observed).to.equal(true);
    subscription.unsubscribe();
    clock.advance(0);
    expect(openRefresh$.observed).to.equal(false);
    expect(memory.isOpen).to.equal(0);
    expect(kernel.arena.used).to.equal(before);
    expect(refresh()).to.equal('');
    clock.advance(1000);
    expect(refresh()).to.equal('');
  });
});

describe('servingPipeline', () => {
  /** `d` is a demand, `D` a change with a demand, `x` a change without a demand. */
  const pictures = [
    {
      title:
        'renders for a demand if the target has changed, and answers with the last render otherwise',
      interval: '-----|',
      demanded: '-D-d------D---d---',
      answered: '-R-s------R---s---',
    },
    {
      title: 'answers with the last render within the interval, and delays one render',
      interval: '-----|',
      demanded: '-D-D--------------',
      answered: '-R-S--r-----------',
    },
    {
      title: 'merges demands within the interval into one delayed render',
      interval: '-----|',
      demanded: '-DDDDD------------',
      answered: '-RSSSSr-----------',
    },
    {
      title: 'starts a new interval at a delayed render',
      interval: '-----|',
      demanded: '-DD------D--------',
      answered: '-RS---r--S-r------',
    },
    {
      title: 'renders at once for a demand at the end of the interval',
      interval: '-----|',
      demanded: '-D----D-----------',
      answered: '-R----R-----------',
    },
    {
      title: 'renders nothing for a change without a demand',
      interval: '-----|',
      demanded: 'xxx-x-------xxx---',
      answered: '------------------',
    },
    {
      title: 'answers all demands within a large interval with one render',
      interval: '---------------------------|',
      demanded: '-D-D-D-D-D-D-D----',
      answered: '-R-S-S-S-S-S-S----',
    },
  ];
  for (const { title, interval, demanded, answered } of pictures)
    it(
      title,
      marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
        const definition = definitionOf({ renderMinIntervalMs: time(interval) });
        let isDirty = false;
        const update$ = hot(demanded);
        let waiting = 0;
        const demand$ = update$.pipe(
          map((letter): Demand => {
            isDirty ||= letter !== 'd';
            if (letter !== 'x') waiting++;
            return { kind: letter === 'x' ? ('changed' as 'demand') : 'demand' };
          }),
        );
        const state = { ...unknownState('82'), isReady: true };
        const counted = { tasks: [], counts: newCounters() };
        const report$ = new Subject<Report>();
        const answer$ = servingPipeline({
          demand$,
          report$,
          definition: () => definition,
          nowMs: () => asyncScheduler.now(),
          refresh: (mayRender) => {
            const hasRendered = mayRender && isDirty;
            isDirty &&= !hasRendered;
            const shown = { snapshot: undefined, hasRendered, isDirty };
            report$.next({ kind: 'refreshed', state, ...counted, ...shown });
            return true;
          },
          receive: (report) => {
            if (report.kind !== 'refreshed') return [];
            const message =
              waiting === 0 ? 'r' : report.hasRendered ? 'R' : report.isDirty ? 'S' : 's';
            waiting = 0;
            return [{ level: 'info', message }];
          },
        });
        const leaves = '^-----------------!';
        const letter$ = answer$.pipe(map(({ message }) => message));
        expectObservable(letter$, leaves).toBe(answered);
        expectSubscriptions(update$.subscriptions).toBe(leaves);
      }),
    );
});
