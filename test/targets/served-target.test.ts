// ServedTarget on real segments: readiness, late objects, lost publishers, and renders.
import { expect } from 'chai';
import { map } from 'rxjs';
import { compileScope } from '#app/exposition/page/scope.js';
import { notReadyText } from '#app/exposition/page/text-page.js';
import { LINE_FORMS } from '#app/model.js';
import type { DemandAnswer, Scope } from '#app/model.js';
import { follow } from '../support/follow.js';
import { iterationSteps } from '../support/iteration-steps.js';
import { freshServed, seriesOf } from '../support/served.js';
import type { Served } from '../support/served.js';

/** Returns the readiness of an answer as text. */
const readinessOf = (answer: DemandAnswer): string =>
  answer.kind === 'waiting' ? notReadyText(answer.status.progress) : 'ready';

describe('a served target', () => {
  const { publishers, serve } = freshServed();

  /** Returns a placed publisher whose root has the variable `x` with this value. */
  const showing = (value: number, serverKey = '82', name = 'H.1.demo') => {
    const publisher = publishers.make(serverKey);
    const root = publisher.addRoot(name, 'Root');
    const x = publisher.addVariable(root, 'x', 'u64');
    x.set(value);
    publisher.place();
    return { publisher, root, x };
  };
  const x = (value: number): string => `demo_root_x{object="@root"} ${value}`;

  describe('before the first full sync (spec 3)', () => {
    it('is not ready until all objects are read, even if the known objects are synced', () => {
      const publisher = publishers.make('82');
      const root = publisher.addRoot('H.1.demo', 'Root', { synced: false });
      publisher.place();
      const target = serve();
      publisher.addObject(root, 'H.1.demo.a', 'Part');
      target.poll('82');
      publisher.addObject(root, 'H.1.demo.b', 'Part');
      target.poll('82');
      // From here on, the segment is not polled until the task that copies the values has run.
      const late = publisher.addObject(root, 'H.1.demo.c', 'Part');
      const x = publisher.addVariable(late, 'x', 'u64');
      publisher.setSynced(root);
      target.clock.advance(0);
      expect(target.target.status().isReady).to.equal(false);
      target.clock.advance(1000);
      expect(target.target.status().isReady).to.equal(false);
      x.set(1);
      publisher.notify();
      target.clock.advance(1000);
      expect(target.target.status().isReady).to.equal(true);
      expect(target.series()).to.deep.equal(['demo_part_x{object="c"} 1']);
    });

    it('answers demands, and reports its state, without a walk over its tree', () => {
      const publisher = publishers.make('82', { capacity: { records: 1 << 15, slots: 1 << 15 } });
      const root = publisher.addRoot('H.1.demo', 'Root');
      for (let i = 0; i < 4000; i++) {
        const object = publisher.addObject(root, `H.1.demo.o${i}`, 'Part');
        const x = publisher.addVariable(object, 'x', 'u64');
        if (i < 3999) x.set(i);
      }
      publisher.place();
      const target = serve();
      target.clock.advance(5000);
      expect(readinessOf(target.ask())).to.equal(
        'scrape not ready: objects 4001/4001 synced, variables 3999/4000 synced, ' +
          'waiting on variable x of H.1.demo.o3999',
      );
      const steps = iterationSteps(() => {
        target.ask();
        target.clock.advance(5000);
        target.target.status();
        target.target.internal();
      });
      expect(steps).to.be.below(1000);
    });

    it('counts synced items and names the item that it waits for', () => {
      const publisher = publishers.make('82');
      const root = publisher.addRoot('H.1.demo', 'Root');
      const child = publisher.addObject(root, 'H.1.demo.c', 'Child', { synced: false });
      const first = publisher.addVariable(root, 'first', 'u64');
      const second = publisher.addVariable(child, 'second', 'u64');
      publisher.place();
      const target = serve();
      const steps = [
        () => undefined,
        () => first.set(1),
        () => publisher.setSynced(child),
        () => second.set(2),
      ];
      const answers = steps.map((step) => {
        step();
        return readinessOf(target.ask());
      });
      expect(answers).to.deep.equal([
        'scrape not ready: objects 1/2 synced, variables 0/2 synced, ' +
          'waiting on object H.1.demo.c',
        'scrape not ready: objects 1/2 synced, variables 1/2 synced, ' +
          'waiting on object H.1.demo.c',
        'scrape not ready: objects 2/2 synced, variables 1/2 synced, ' +
          'waiting on variable second of H.1.demo.c',
        'ready',
      ]);
    });

    it('becomes ready at a change, without a demand', () => {
      const { publisher, root } = showing(1);
      const late = publisher.addVariable(root, 'y', 'u64');
      const target = serve();
      target.clock.advance(1000);
      expect(target.target.status().isReady).to.equal(false);
      expect(target.internal('shm_exporter_internal_target_pending_sync_items')).to.equal(1);
      late.set(1);
      publisher.notify();
      target.clock.advance(1000);
      expect(target.target.status().isReady).to.equal(true);
      expect(target.internal('shm_exporter_internal_target_ready')).to.equal(1);
      expect(target.internal('shm_exporter_internal_target_initial_sync_complete')).to.equal(1);
      expect(target.internal('shm_exporter_internal_target_pending_sync_items')).to.equal(0);
    });

    it('counts neither a hit nor a miss for a demand that it cannot answer yet', () => {
      publishers.withRoot('82', 'H.1.other');
      const target = serve();
      target.ask();
      expect(target.internal('shm_exporter_internal_scrape_render_cache_hits_total')).to.equal(0);
      expect(target.internal('shm_exporter_internal_scrape_render_cache_misses_total')).to.equal(0);
    });

    it('lists the available roots when no root matches', () => {
      publishers.withRoot('82', 'H.1.other');
      expect(readinessOf(serve().ask())).to.equal(
        'scrape not ready: objects 0/0 synced, variables 0/0 synced, ' +
          'waiting on a root of application demo; found only H.1.other',
      );
    });

    it('binds a tree in several slices before it becomes ready', () => {
      const publisher = publishers.make('82');
      const root = publisher.addRoot('H.1.demo', 'Root');
      for (let i = 0; i < 5000; i++) publisher.addVariable(root, `v${i}`, 'u64').set(i);
      publisher.place();
      const target = serve();
      expect(target.target.status().progress.variables).to.deep.equal({
        synced: 5000,
        total: 5000,
      });
      expect(target.series()).to.have.length(5000);
    });
  });

  describe('once it is ready', () => {
    it('adds late objects and variables when they sync, and stays ready', () => {
      const { publisher, root } = showing(1);
      const target = serve({ renderMinIntervalMs: 0 });
      expect(target.series()).to.deep.equal([x(1)]);

      const late = publisher.addObject(root, 'H.1.demo.late', 'Late', { synced: false });
      const value = publisher.addVariable(late, 'y', 'u64');
      expect(target.series()).to.deep.equal([x(1)]);
      expect(target.internal('shm_exporter_internal_target_pending_sync_items')).to.equal(2);
      expect(target.internal('shm_exporter_internal_target_ready')).to.equal(1);

      publisher.setSynced(late);
      value.set(7);
      expect(target.series()).to.have.members([x(1), 'demo_late_y{object="late"} 7']);
      expect(target.internal('shm_exporter_internal_target_pending_sync_items')).to.equal(0);
    });

    it('omits the series of removed objects and variables from the next render', () => {
      const { publisher, root } = showing(1);
      const child = publisher.addObject(root, 'H.1.demo.c', 'Child');
      publisher.addVariable(child, 'y', 'u64').set(2);
      const z = publisher.addVariable(root, 'z', 'u64');
      z.set(3);
      const target = serve({ renderMinIntervalMs: 0 });
      expect(target.series()).to.have.length(3);
      publisher.removeObject(child);
      expect(target.series()).to.have.members([x(1), 'demo_root_z{object="@root"} 3']);
      publisher.removeVariable(z);
      expect(target.series()).to.deep.equal([x(1)]);
    });

    it('ends the series of an unset value, and stays ready', () => {
      const shown = showing(1);
      const target = serve({ renderMinIntervalMs: 0 });
      expect(target.series()).to.deep.equal([x(1)]);
      shown.x.unset();
      const answer = target.ask();
      expect(answer.kind).to.equal('ready');
      expect(seriesOf(answer)).to.deep.equal([]);
    });

    it('neither counts nor waits for objects that filters exclude', () => {
      const { publisher, root } = showing(1);
      publisher.addVariable(publisher.addObject(root, 'H.1.demo.c', 'Child'), 'y', 'u64');
      const target = serve({ seedPaths: ['@root'] });
      expect(target.series()).to.deep.equal([x(1)]);
      expect(target.target.status().progress.objects.total).to.equal(1);
    });
  });

  describe('without its publisher', () => {
    it('reports the reason while it waits, and becomes ready with a new publisher', () => {
      const { publisher } = showing(1);
      const target = serve();
      expect(readinessOf(target.ask())).to.equal('ready');
      publisher.close();
      expect(readinessOf(target.ask())).to.equal(
        'scrape not ready: objects 0/0 synced, variables 0/0 synced, waiting on ' +
          'a root of application demo; server key 82: publisher closed its segment',
      );
      expect(target.target.status()).to.deep.include({ isReady: false, root: '' });
      expect(target.internal('shm_exporter_internal_target_ready')).to.equal(0);

      showing(2);
      target.clock.advance(2000);
      expect(target.target.status()).to.deep.include({ isReady: true, root: 'H.1.demo' });
      expect(target.series()).to.deep.equal([x(2)]);
    });

    it('waits after the removal of its root, and selects the next root', () => {
      const { publisher, root } = showing(1);
      const target = serve();
      target.ask();
      publisher.removeObject(root);
      expect(readinessOf(target.ask())).to.contain('waiting on a root of application demo');
      publisher.addRoot('H.1.demo', 'Root');
      expect(readinessOf(target.ask())).to.equal('ready');
      expect(target.series()).to.deep.equal([]);
    });

    it('selects a root on another of its server keys', () => {
      const { publisher } = showing(1);
      showing(5, '456', 'H.5.demo');
      const target = serve({ serverKeys: ['82', '456'] });
      expect(target.series()).to.deep.equal([x(1)]);
      publisher.close();
      expect(target.series()).to.deep.equal([x(5)]);
      expect(target.target.status()).to.deep.include({ serverKey: '456', root: 'H.5.demo' });
      showing(2);
      expect(target.series()).to.deep.equal([x(5)]);
    });

    it('answers waiting demands', () => {
      const { publisher } = showing(1);
      const target = serve();
      target.ask();
      const waiting = follow(target.target.demand());
      expect(waiting.seen).to.have.length(0);
      publisher.close();
      target.poll('82');
      expect(waiting.seen.map(({ kind }) => kind)).to.deep.equal(['waiting']);
      expect(waiting.subscription.closed).to.equal(true);
    });

    it('answers waiting demands when the service stops', () => {
      showing(1);
      const target = serve();
      target.ask();
      const waiting = follow(target.target.demand());
      target.leave();
      expect(waiting.seen.map(readinessOf)).to.deep.equal([
        'scrape not ready: objects 1/1 synced, variables 1/1 synced, waiting on ' +
          'nothing: the exporter does not serve this target any more',
      ]);
    });
  });

  describe('at a demand (spec 1.9)', () => {
    it('shows the objects and values at the time of a delayed render', () => {
      const shown = showing(1);
      const target = serve();
      expect(target.series()).to.deep.equal([x(1)]);
      shown.x.set(2);
      expect(target.series()).to.deep.equal([x(1)]);
      target.clock.advance(240);
      const child = shown.publisher.addObject(shown.root, 'H.1.demo.late', 'Late');
      shown.publisher.addVariable(child, 'y', 'u64').set(7);
      target.clock.advance(11);
      expect(target.series().sort()).to.deep.equal(['demo_late_y{object="late"} 7', x(2)]);
    });

    it('renders every form of lines that a client has requested', () => {
      const shown = showing(0);
      // If a block of a family has more than 32 KiB, the kernel compresses the family line by line.
      for (let i = 0; i < 2000; i++) {
        const id = `H.1.demo.client-${i}-${'x'.repeat(100)}`;
        const child = shown.publisher.addObject(shown.root, id, 'Client');
        shown.publisher.addVariable(child, 'y', 'u64').set(i);
      }
      const target = serve({ renderMinIntervalMs: 20 });
      const formsOf = (form: 'text' | 'deflated', afterMs: number): string => {
        target.clock.advance(afterMs);
        shown.x.set(target.clock.now());
        const answer = target.ask(undefined, form);
        if (answer.kind !== 'ready') return 'waiting';
        return LINE_FORMS.filter((each) => answer.snapshot.lines(each) !== undefined).join(' ');
      };
      expect([
        formsOf('text', 100),
        // This is too early for another render.
        formsOf('deflated', 10),
        formsOf('deflated', 100),
        formsOf('text', 100),
      ]).to.deep.equal(['text', 'text', 'text deflated', 'text deflated']);
    });

    type Step = (shown: ReturnType<typeof showing>, target: Served) => void;
    const store =
      (value: number): Step =>
      (shown) =>
        void shown.x.set(value);
    const notify: Step = ({ publisher }) => {
      publisher.notify();
    };
    const later =
      (ms: number): Step =>
      (_, target) => {
        target.clock.advance(ms);
      };
    /** The steps, and for each demand the value on the page and `hit` or `miss`. */
    const scripts: readonly {
      readonly title: string;
      readonly renderMinIntervalMs: number;
      readonly steps: readonly (Step | 'demand')[];
      readonly answers: readonly string[];
    }[] = [
      {
        title: 'counts a hit if the target is unchanged and a miss if it has changed',
        renderMinIntervalMs: 250,
        steps: ['demand', 'demand', later(250), store(2), 'demand', 'demand'],
        answers: ['1 miss', '1 hit', '2 miss', '2 hit'],
      },
      {
        title: 'shows values that the publisher stored without a notification',
        renderMinIntervalMs: 250,
        steps: ['demand', store(2), later(250), 'demand', store(3), later(9999), 'demand'],
        answers: ['1 miss', '2 miss', '3 miss'],
      },
      {
        title: 'answers with the last render within the interval, and delays one render',
        renderMinIntervalMs: 250,
        steps: [
          ...(['demand', store(2), later(100), 'demand', store(3), later(149), 'demand'] as const),
          ...([later(1), 'demand'] as const),
        ],
        answers: ['1 miss', '1 hit', '1 hit', '3 hit'],
      },
      {
        title: 'starts a new interval when a delayed render runs',
        renderMinIntervalMs: 250,
        steps: [
          'demand',
          store(2),
          'demand',
          later(250),
          store(3),
          later(249),
          'demand',
          later(1),
          'demand',
        ],
        answers: ['1 miss', '1 hit', '2 hit', '3 hit'],
      },
      {
        title: 'renders a change at the next demand, not before',
        renderMinIntervalMs: 250,
        steps: ['demand', store(2), notify, later(1000), 'demand'],
        answers: ['1 miss', '2 miss'],
      },
      {
        title: 'renders at every change notification if the interval is 0',
        renderMinIntervalMs: 0,
        steps: ['demand', store(2), notify, later(1000), 'demand'],
        answers: ['1 hit', '2 hit'],
      },
      {
        title: 'renders a value stored without a notification if the interval is 0',
        renderMinIntervalMs: 0,
        steps: ['demand', store(2), 'demand', store(3), 'demand'],
        answers: ['1 hit', '2 miss', '3 miss'],
      },
      {
        title: 'answers all demands within a large interval with one render',
        renderMinIntervalMs: 60_000,
        steps: ['demand', store(2), later(59_999), 'demand', later(1), 'demand'],
        answers: ['1 miss', '1 hit', '2 hit'],
      },
    ];
    for (const { title, renderMinIntervalMs, steps, answers } of scripts)
      it(title, () => {
        const shown = showing(1);
        const target = serve({ renderMinIntervalMs });
        const misses = () =>
          target.internal('shm_exporter_internal_scrape_render_cache_misses_total') ?? NaN;
        const got: string[] = [];
        for (const step of steps)
          if (step === 'demand') {
            const before = misses();
            const value = target.series().join().split(' ').pop() ?? '';
            got.push(`${value} ${misses() > before ? 'miss' : 'hit'}`);
          } else step(shown, target);
        expect(got).to.deep.equal(answers);
        const hits = target.internal('shm_exporter_internal_scrape_render_cache_hits_total');
        expect([misses(), hits]).to.deep.equal([
          answers.filter((each) => each.endsWith('miss')).length,
          answers.filter((each) => each.endsWith('hit')).length,
        ]);
      });

    it('counts a scoped scrape as a scrape and as a scope hit or miss (spec 2.5)', () => {
      const shown = showing(1);
      const target = serve();
      const [few, reloaded, none] = ['demo_*', 'demo_*', 'nothing'].map((pattern) =>
        compileScope({ name: 'few', metrics: [pattern] }),
      );
      const counts = () =>
        ['render_cache_hits', 'render_cache_misses', 'scope_cache_hits', 'scope_cache_misses']
          .map((name) => target.internal(`shm_exporter_internal_scrape_${name}_total`))
          .join(' ');
      const after = (scope: Scope | undefined) => {
        target.ask(scope);
        return counts();
      };
      expect(counts()).to.equal('0 0 0 0');
      expect([undefined, few, few, reloaded, few, none, none].map(after)).to.deep.equal([
        '0 1 0 0',
        '1 1 0 1',
        '2 1 1 1',
        '3 1 1 2',
        '4 1 2 2',
        '5 1 2 3',
        '6 1 3 3',
      ]);
      target.clock.advance(250);
      shown.x.set(2);
      expect([few, undefined, few].map(after)).to.deep.equal(['6 2 3 4', '7 2 3 4', '8 2 4 4']);
      shown.publisher.close();
      expect(after(few)).to.equal('8 2 4 4');
    });

    it('shows only the application metrics and the internal metrics that a scope selects', () => {
      showing(1);
      const target = serve();
      const shown = (...metrics: readonly string[]) => {
        const answer = target.ask(compileScope({ name: 'some', metrics }));
        if (answer.kind === 'waiting') throw new Error('not ready');
        const { snapshot, internal } = answer;
        const own = internal.map(({ metadata }) => metadata);
        return [...snapshot.metadata, ...own].map(({ name }) => name);
      };
      expect(shown('demo_*')).to.deep.equal(['demo_root_x']);
      expect(shown('shm_exporter_*_info', '*_target_ready')).to.deep.equal([
        'shm_exporter_internal_target_ready',
        'shm_exporter_target_info',
      ]);
      expect(shown('other_*')).to.deep.equal([]);
      expect(shown('*')).to.include.members([
        ...['demo_root_x', 'shm_exporter_target_info', 'shm_exporter_target_refresh_total'],
      ]);
    });

    it('counts one miss for all scrapes that share a render', () => {
      const shown = showing(1);
      const target = serve({ renderMinIntervalMs: 0 });
      // The first scrape gets the last render. Then the value changes, and the other scrapes share the next
      // render.
      const first$ = target.target.demand().pipe(map(() => shown.x.set(2)));
      follow(first$);
      for (let others = 0; others < 3; others++) follow(target.target.demand());
      target.clock.advance(0);
      const counted = ['misses', 'hits'].map((name) =>
        target.internal(`shm_exporter_internal_scrape_render_cache_${name}_total`),
      );
      expect(counted).to.deep.equal([1, 3]);
    });

    it('has counters on its page that include the current scrape', () => {
      showing(1);
      const answer = serve().ask();
      if (answer.kind === 'waiting') throw new Error('not ready');
      const misses = answer.internal.find(({ metadata }) =>
        metadata.name.endsWith('render_cache_misses_total'),
      );
      expect(misses?.text).to.match(/misses_total 1\n$/);
    });

    it('counts a refresh for each demand', () => {
      showing(1);
      const target = serve();
      const before = target.internal('shm_exporter_target_refresh_total') ?? NaN;
      target.ask();
      target.ask();
      expect(target.internal('shm_exporter_target_refresh_total')).to.equal(before + 2);
    });
  });

  describe('logs', () => {
    const messages = (target: Served) => target.events.map(({ message }) => message);

    it('the root that it selects, and its readiness', () => {
      showing(1);
      const target = serve();
      target.ask();
      expect(messages(target)).to.deep.equal([
        'target demo on 82 selects root H.1.demo of server key 82',
        'target demo on 82 ready: 1 object, 1 variable',
      ]);
    });

    it('the other matching roots as a warning', () => {
      const { publisher } = showing(1);
      publisher.addRoot('H.2.demo', 'Root');
      const target = serve();
      expect(target.events).to.deep.include({
        level: 'warning',
        message: 'target demo on 82 roots not selected: H.2.demo',
        about: { app: 'demo', serverKeys: ['82'] },
      });
    });

    it('an ended publisher as a warning, and a missing publisher as information', () => {
      const target = serve();
      const lastMessage = () =>
        target.events.map(({ level, message }) => `${level} ${message}`).at(-1);
      expect(lastMessage()).to.match(/^info target demo on 82 waiting on /);
      const { publisher } = showing(1);
      target.ask();
      publisher.close();
      target.ask();
      expect(lastMessage()).to.match(/^warning target demo on 82 waiting on .*closed its segment/);
    });

    it('lookups, updates, sync, the highlighted variable and renders at level debug', () => {
      const { publisher, x, root } = showing(1);
      const late = publisher.addVariable(root, 'late', 'u64');
      const target = serve({ isDebug: true, serverKeys: ['82', '456'], variable: 'x' });
      target.ask();
      late.set(2);
      target.ask();
      x.set(3);
      target.ask();
      const debug = target.events.filter(({ level }) => level === 'debug');
      const debugMessages = debug.map(({ message }) =>
        message.replace('target demo on 82, 456 ', ''),
      );
      const lookup = 'lookup: server key 82 live, server key 456 absent; root H.1.demo';
      const sync = 'sync: objects 1/1, variables 1/2, waiting on variable late of H.1.demo';
      expect(debugMessages).to.deep.equal([
        ...['x is 1', sync, 'update: notification 0, 3 changes in the directory', sync],
        ...[lookup, sync],
        ...[lookup, 'rendered 2 series, 63 bytes'],
        ...[lookup, 'x is 3', 'served 2 series, 63 bytes'],
      ]);
    });

    it('a clash of series once', () => {
      const { publisher, root } = showing(1);
      publisher.addVariable(root, 'X', 'u64').set(9); // its metric has the same name as x's
      const target = serve({ renderMinIntervalMs: 0 });
      expect(target.series()).to.have.length(1);
      publisher.notify();
      target.clock.advance(1000);
      const warnings = target.events.filter(({ level }) => level === 'warning');
      expect(warnings.map(({ message }) => message)).to.deep.equal([
        'target demo on 82 left out series demo_root_x{object="@root"}: another series has this name and these labels',
      ]);
      expect(target.internal('shm_exporter_target_series_clashes_total')).to.equal(1);
    });

    it('clashing series, and counts them until one of them is removed', () => {
      const { publisher, root } = showing(1);
      const second = publisher.addVariable(root, 'X', 'u64');
      second.set(9); // its metric has the same name as that of x
      const target = serve({ renderMinIntervalMs: 0 });
      const clashing = () => target.internal('shm_exporter_target_clashing_series');
      target.ask();
      expect(clashing()).to.equal(1);
      publisher.removeVariable(second);
      publisher.notify();
      target.clock.advance(1000);
      target.ask();
      expect(clashing()).to.equal(0);
    });
  });

  it('logs a hundred clashing series, and counts the others', () => {
    const { publisher, root } = showing(1);
    for (let i = 0; i < 102; i++) {
      const child = publisher.addObject(root, `H.1.demo.${i}`, 'Child');
      for (const name of ['y', 'Y']) publisher.addVariable(child, name, 'u64').set(1);
    }
    const target = serve();
    target.ask();
    expect(target.events.filter(({ level }) => level === 'warning')).to.have.lengthOf(100);
    expect(target.internal('shm_exporter_target_series_clashes_total')).to.equal(102);
  });

  it('reports the age of its values if the root states a timestamp', () => {
    const { publisher, root } = showing(1);
    const target = serve({}, { unixMs: () => 5500 });
    const age = () => target.internal('shm_exporter_target_as_of_age_seconds');
    target.ask();
    expect(age()).to.equal(undefined);
    publisher.setAsOf(root, 2_000_000_000n);
    target.ask();
    expect(age()).to.equal(3.5);
  });

  describe('that is idle or stopped', () => {
    it('closes its segments when the service stops', () => {
      showing(1);
      const target = serve({ serverKeys: ['82', '456'] });
      target.ask();
      expect(target.memory.isOpen).to.equal(1);
      target.leave();
      expect(target.memory.isOpen).to.equal(0);
    });

    it('neither renders nor copies values without a demand', () => {
      showing(1);
      const target = serve();
      target.ask();
      target.clock.advance(1000);
      const refreshes = () => target.internal('shm_exporter_target_refresh_total') ?? NaN;
      const before = refreshes();
      target.clock.advance(60_000);
      expect(refreshes()).to.equal(before);
    });
  });
});
