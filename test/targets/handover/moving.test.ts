// Moves of a served target to another partition. Spec 1.10, design 6.
import { expect } from 'chai';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { DemandAnswer } from '#app/model.js';
import { follow } from '../../support/follow.js';
import { observing } from '../../support/observing-catalogue.js';
import { Served, freshServed, seriesOf } from '../../support/served.js';
import { StepQueue } from '../../support/step-queue.js';

const HITS = 'shm_exporter_internal_scrape_render_cache_hits_total';
const MISSES = 'shm_exporter_internal_scrape_render_cache_misses_total';
const COUNTERS = [HITS, MISSES, 'shm_exporter_target_refresh_total'];

describe('a target that moves to another partition', () => {
  const { publishers, serve } = freshServed();

  const publish = (values: Readonly<Record<string, number>> = { x: 1 }, name = 'H.1.demo') => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot(name, 'Root');
    const variables = new Map(
      Object.entries(values).map(([variable, value]) => {
        const made = publisher.addVariable(root, variable, 'u64');
        made.set(value);
        return [variable, made];
      }),
    );
    const set = (value: number, variable = 'x') => variables.get(variable)?.set(value);
    publisher.place();
    return { publisher, root, set };
  };
  const x = (value: number): string => `demo_root_x{object="@root"} ${value}`;

  /** Moves a target to partition 1. The test runs the partition's tasks one by one. */
  const moveByHand = (target: Served) => {
    const queue = new StepQueue(target.clock);
    const moving = follow(target.target.change({ partition: target.partition(1, queue) }));
    return { queue, moving };
  };
  /** Calls `read` before, between and after the tasks of the move, and returns the results. */
  const duringMove = <T>(target: Served, read: () => T): T[] => {
    const { queue, moving } = moveByHand(target);
    const isOver = () => moving.subscription.closed;
    const seen = [read()];
    while (!isOver()) {
      expect(queue.step(), 'a further step').to.equal(true);
      if (isOver()) queue.free();
      seen.push(read());
    }
    expect(target.target.status().partition).to.equal(1);
    return seen;
  };
  const moveAtOnce = (target: Served, partition = target.partition(1)): void => {
    follow(target.target.change({ partition }));
    target.clock.advance(0);
    expect(target.target.status().partition).to.equal(partition.number);
  };
  const counts = (target: Served) => COUNTERS.map((name) => target.internal(name) ?? NaN);

  it('reports the move in its status, its metrics and the log', () => {
    publish();
    const target = serve();
    target.ask();
    moveAtOnce(target, target.partition(7));
    expect(target.events.at(-1)).to.deep.equal({
      level: 'info',
      message: 'target demo on 82 moved from partition 0 to 7',
      about: { app: 'demo', serverKeys: ['82'] },
    });
    const page = target.answer((answer) =>
      answer.kind === 'waiting' ? [] : answer.internal.map(({ text }) => text),
    );
    expect(page.join('')).to.match(/target_info\{.*partition="7"\} 1\n/);
  });

  it('keeps its snapshot, so that a demand within the interval is a cache hit', () => {
    const { set } = publish();
    const target = serve();
    expect(target.series()).to.deep.equal([x(1)]);
    set(2);
    const seen = duringMove(target, () => target.series().join());
    expect(seen.length).to.be.at.least(2);
    expect(new Set(seen)).to.deep.equal(new Set([x(1)]));
    target.clock.advance(100);
    moveAtOnce(target, target.partition(2));
    expect(target.series()).to.deep.equal([x(1)]);
    expect(target.internal(MISSES)).to.equal(1);
    expect(target.internal(HITS)).to.equal(seen.length + 1);
  });

  it('keeps its interval, and runs a delayed render at the planned time', () => {
    const { set } = publish();
    const target = serve();
    target.ask();
    target.clock.advance(100);
    set(2);
    expect(target.series()).to.deep.equal([x(1)]);
    moveAtOnce(target);
    target.clock.advance(149);
    expect(target.series()).to.deep.equal([x(1)]);
    target.clock.advance(1);
    set(3);
    expect(target.series()).to.deep.equal([x(2)]);
    expect(target.internal(MISSES)).to.equal(1);
  });

  it('does not render without a demand', () => {
    const { set } = publish();
    const target = serve();
    target.ask();
    moveAtOnce(target);
    target.clock.advance(250);
    set(2);
    expect(target.series()).to.deep.equal([x(2)]);
    expect(target.internal(MISSES)).to.equal(2);
  });

  it('stays ready while its tree is bound in the new partition', () => {
    const values = Array.from({ length: 5000 }, (_, i): [string, number] => [`v${i}`, i]);
    publish(Object.fromEntries(values));
    const target = serve({ renderMinIntervalMs: 0 });
    const { queue, moving } = moveByHand(target);
    const demands = [follow(target.target.demand())];
    while (!moving.subscription.closed) {
      expect(queue.step() || target.clock.step(), 'a further step').to.equal(true);
      demands.push(follow(target.target.demand()));
      expect(target.target.status().isReady).to.equal(true);
    }
    expect(demands.length).to.be.greaterThan(6);
    queue.free();
    target.clock.advance(0);
    for (const { seen } of demands) expect(seen.map(({ kind }) => kind)).to.deep.equal(['ready']);
    expect(target.series()).to.have.length(5000);
  });

  it('keeps its counters', () => {
    const { set, publisher } = publish();
    const target = serve();
    for (let value = 2; value < 6; value++) {
      set(value);
      publisher.notify();
      target.clock.advance(1000);
      target.ask();
    }
    const before = counts(target);
    const seen = duringMove(target, () => {
      target.ask();
      return counts(target);
    });
    const all = [before, ...seen, counts(target)];
    COUNTERS.forEach((name, index) => {
      const values = all.map((each) => each[index] ?? NaN);
      expect(values, name).to.deep.equal([...values].sort((a, b) => a - b));
    });
    const [hits = NaN, misses = NaN] = all.at(-1) ?? [];
    expect(hits + misses).to.equal(4 + seen.length);
  });

  it('does not count a clash again after the move, but counts new clashes', () => {
    const { publisher, root } = publish();
    const clash = () => {
      const twin = publisher.addVariable(root, 'X', 'u64');
      twin.set(2);
      return twin;
    };
    const target = serve({ renderMinIntervalMs: 0 });
    const clashes = () => {
      publisher.notify();
      target.clock.advance(1000);
      target.ask();
      return target.internal('shm_exporter_target_series_clashes_total');
    };
    const first = clash();
    const seen = [clashes()];
    moveAtOnce(target);
    seen.push(clashes());
    publisher.removeVariable(first);
    seen.push(clashes());
    const second = clash();
    seen.push(clashes());
    publisher.removeVariable(second);
    seen.push(clashes());
    moveAtOnce(target, target.partition(2));
    seen.push(clashes());
    clash();
    seen.push(clashes());
    expect(seen).to.deep.equal([1, 1, 1, 2, 2, 2, 3]);
  });

  it('keeps its root even if a better root has appeared', () => {
    const { publisher } = publish({ x: 1 }, 'H.2.demo');
    const target = serve();
    target.ask();
    publisher.addRoot('H.1.demo', 'Root');
    target.clock.advance(1000);
    moveAtOnce(target);
    expect(target.target.status().root).to.equal('H.2.demo');
    expect(target.series()).to.deep.equal([x(1)]);
  });

  it('restarts the count of observed values at 0 in the new partition', () => {
    const { set, publisher } = publish({ lag: 1 });
    const target = serve({ catalogue: observing(), renderMinIntervalMs: 1 });
    const observe = (value: number) => {
      set(value, 'lag');
      publisher.notify();
      target.clock.advance(100);
      return target.series().find((line) => line.startsWith('demo_lag_count'));
    };
    expect([observe(5), observe(6)]).to.deep.equal(['demo_lag_count 1', 'demo_lag_count 2']);
    moveAtOnce(target);
    target.clock.advance(100);
    expect(observe(7)).to.equal('demo_lag_count 1');
  });

  it('counts an observed value when the publisher notifies, even if a demand has already read the value', () => {
    const { set, publisher } = publish({ lag: 1 });
    const target = serve({ catalogue: observing(), renderMinIntervalMs: 1 });
    set(5, 'lag');
    expect(target.series()).to.include('demo_lag_count 0');
    publisher.notify();
    target.clock.advance(100);
    expect(target.series()).to.include('demo_lag_count 1');
  });

  it('does not change open pages, and frees their memory when they are released', () => {
    const values = Array.from({ length: 900 }, (_, i): [string, number] => [`v${i}`, i]);
    const [old, other] = [new Kernel(), new Kernel()];
    const [before, beside] = [old.arena.used, other.arena.used];
    const { set, publisher } = publish(Object.fromEntries(values));
    const target = serve({ renderMinIntervalMs: 60_000 }, { kernel: old });
    const pageOf = (answer: DemandAnswer) => {
      if (answer.kind === 'waiting') throw new Error('The target is not ready');
      return TEXT.page(answer);
    };
    const textOf = ({ buffers }: ReturnType<typeof pageOf>) => Buffer.concat(buffers).toString();
    const page = target.answer(pageOf);
    const text = textOf(page);
    moveAtOnce(
      target,
      target.partition(1, undefined, () => other),
    );
    const kept = target.answer(pageOf);
    expect(textOf(kept).split('# HELP shm')[0]).to.equal(text.split('# HELP shm')[0]);
    kept.release();
    for (const [name] of values) set(7, name);
    target.clock.advance(60_000);
    const fresh = target.answer(pageOf);
    expect(textOf(fresh)).to.contain('demo_root_v899{object="@root"} 7\n');
    fresh.release();
    // Another target then reuses the freed memory.
    const neighbour = new Served(publishers, { renderMinIntervalMs: 0 }, { kernel: old });
    neighbour.ask();
    neighbour.leave();
    expect(textOf(page)).to.equal(text);
    expect(old.arena.used).to.be.greaterThan(before);
    page.release();
    for (let round = 0; old.arena.used > before && round < 1000; round++) {
      neighbour.clock.advance(0);
      target.clock.advance(0);
    }
    expect(old.arena.used, 'freed in slices').to.equal(before);
    target.leave();
    for (let round = 0; other.arena.used > beside && round < 1000; round++) target.clock.advance(0);
    expect(other.arena.used).to.equal(beside);
    publisher.close();
  });

  it('answers each demand that arrives during the move once, in the new partition', () => {
    const { set } = publish();
    const target = serve({ renderMinIntervalMs: 0 });
    target.ask();
    const { queue } = moveByHand(target);
    const early = follow(target.target.demand()); // sent before the move
    queue.stepAll();
    const late = [1, 2, 3].map(() => follow(target.target.demand()));
    set(2);
    target.clock.advance(0);
    queue.stepAll();
    const places = [early, ...late].map(({ seen, subscription }) => {
      expect(subscription.closed).to.equal(true);
      return seen.map(({ kind, status }) => [kind, status.partition]);
    });
    expect(places).to.deep.equal(Array(4).fill([['ready', 1]]));
    const [hits = NaN, misses = NaN] = counts(target);
    expect(hits + misses).to.equal(5);
  });

  it('moves at once when it is not ready, and becomes ready in the new partition', () => {
    const target = serve();
    const { queue, moving } = moveByHand(target);
    expect(moving.subscription.closed).to.equal(true);
    expect(target.target.status().partition).to.equal(1);
    publish();
    for (let i = 0; i < 20; i++) {
      target.clock.advance(100);
      queue.stepAll();
    }
    expect(target.target.status().isReady).to.equal(true);
  });

  it('answers an open demand from the new partition, even if the target was not ready in the old one', () => {
    const target = serve();
    // The tasks of this partition never run.
    expect(moveByHand(target).moving.subscription.closed).to.equal(true);
    publish();
    target.clock.advance(1000);
    const { seen } = follow(target.target.demand());
    target.clock.advance(0);
    expect(seen).to.have.length(0);
    moveAtOnce(target, target.partition(2));
    expect(seen.map(({ kind, status }) => [kind, status.partition])).to.deep.equal([['ready', 2]]);
  });

  it('completes its move at once when the target is no longer ready', () => {
    const { publisher } = publish();
    const target = serve();
    target.ask();
    const { moving } = moveByHand(target);
    expect(moving.subscription.closed).to.equal(false);
    publisher.close();
    target.poll('82');
    expect(moving.subscription.closed).to.equal(true);
    expect(target.target.status().partition).to.equal(1);
  });

  it('accepts further moves during a move, even a move back or to the same partition', () => {
    publish();
    const target = serve();
    const home = target.target.assignment.partition;
    const third = target.partition(2);
    target.ask();
    const first = moveByHand(target);
    const back = follow(target.target.change({ partition: home }));
    expect([first.moving, back].map(({ subscription }) => subscription.closed)).to.deep.equal([
      true,
      true,
    ]);
    first.queue.stepAll();
    expect(target.target.status().partition).to.equal(0);

    const second = moveByHand(target);
    const further = follow(target.target.change({ partition: third }));
    target.clock.advance(0);
    expect(target.target.status().partition).to.equal(2);
    expect([second.moving, further].map(({ subscription }) => subscription.closed)).to.deep.equal([
      true,
      true,
    ]);
    expect(follow(target.target.change({ partition: third })).subscription.closed).to.equal(true);
    expect(seriesOf(target.ask())).to.deep.equal([x(1)]);
  });

  it('completes the move when the service stops during it', () => {
    publish();
    const target = serve();
    target.ask();
    const { moving } = moveByHand(target);
    target.leave();
    expect(moving.subscription.closed).to.equal(true);
    expect(target.target.assignment.partition.number).to.equal(0);
    expect(target.ask().kind).to.equal('waiting');
    expect(target.memory.isOpen).to.equal(0);
  });
});
