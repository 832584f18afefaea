// Tests changes of a served target's definition, as a reload makes them.
import { expect } from 'chai';
import type { TargetDefinition } from '#app/targets/formats.js';
import { MAX_STANDBY_MS } from '#app/targets/handover.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';
import { observing } from '../../support/observing-catalogue.js';
import { freshServed } from '../../support/served.js';
import type { Served } from '../../support/served.js';

describe('a target that is redefined', () => {
  const { publishers, serve: serveOne } = freshServed();
  const ROOT = { seedPaths: ['@root'] };

  /** A publisher with the root `H.1.demo`, its variable `x`, and a child `c` with the variable `y`. */
  const serve = (given: Partial<TargetDefinition>, isSynced = true) => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.addVariable(root, 'x', 'u64').set(1);
    const lag = publisher.addVariable(root, 'lag', 'u64');
    lag.set(1);
    const child = publisher.addObject(root, 'H.1.demo.c', 'Child', { synced: isSynced });
    publisher.addVariable(child, 'y', 'u64').set(2);
    publisher.place();
    const target = serveOne(given);
    const redefine = (next: Partial<TargetDefinition>) =>
      follow(target.target.change({ definition: definitionOf(next) })).subscription;
    return { publisher, child, lag, target, redefine };
  };
  /** Returns the names of the series in the answer to one demand. */
  const names = (target: Served) =>
    target
      .series()
      .map((line) => line.replace(/[ {].*/, ''))
      .join(' ');
  const [SMALL, LARGE] = ['demo_root_x demo_root_lag', 'demo_root_x demo_root_lag demo_child_y'];

  const changes: readonly (readonly [
    string,
    Partial<TargetDefinition>,
    Partial<TargetDefinition>,
    string,
    string,
  ])[] = [
    ['narrower filters', {}, ROOT, LARGE, SMALL],
    ['wider filters', ROOT, {}, SMALL, LARGE],
    [
      'a catalogue',
      {},
      { catalogue: observing() },
      LARGE,
      `${'demo_lag_seconds_bucket '.repeat(3)}demo_lag_seconds_sum demo_lag_seconds_count ` +
        'demo_lag demo_lag_sum demo_lag_count demo_x',
    ],
  ];
  for (const [what, before, after, old, renewed] of changes)
    it(`with ${what} shows all old series until it shows all new series`, () => {
      const { target, redefine } = serve({ ...before, renderMinIntervalMs: 0 });
      const sorted = (text: string) => text.split(' ').sort();
      expect(names(target).split(' ')).to.have.members(sorted(old));
      const redefining = redefine({ ...after, renderMinIntervalMs: 0 });
      const demands = [follow(target.target.demand())];
      while (!redefining.closed) {
        demands.push(follow(target.target.demand()));
        expect(target.clock.step(), 'a further step').to.equal(true);
      }
      target.clock.advance(0);
      for (const { seen } of demands) expect(seen.map(({ kind }) => kind)).to.deep.equal(['ready']);
      expect(names(target).split(' ').sort()).to.deep.equal(sorted(renewed));
      expect(target.target.status().partition).to.equal(0);
      expect(target.events.filter(({ message }) => message.includes(' moved '))).to.deep.equal([]);
    });

  it('counts and logs the series that the new definition omits', () => {
    const { target, redefine } = serve({});
    names(target);
    const LEFT_OUT = 'shm_exporter_target_series_omitted_total';
    const before = target.internal(LEFT_OUT);
    const warnings = () => target.events.filter(({ level }) => level === 'warning');
    expect(warnings()).to.deep.equal([]);
    redefine({ targetMaxSeries: 1 });
    target.clock.advance(0);
    target.clock.advance(2000);
    expect(names(target)).to.equal('demo_root_x');
    expect(target.internal(LEFT_OUT)).to.equal((before ?? 0) + 2);
    expect(warnings().map(({ message }) => message)).to.deep.equal([
      'target demo on 82 left out series demo_root_lag{object="@root"}: target_max_series is 1; further omissions are counted, not logged',
    ]);
  });

  it('keeps its last text within the interval, and then shows the new series', () => {
    const { target, redefine } = serve({});
    const old = names(target);
    expect(redefine(ROOT).closed).to.equal(false);
    target.clock.advance(0);
    expect(names(target)).to.equal(old);
    target.clock.advance(250);
    expect(names(target).split(' ').sort()).to.deep.equal(SMALL.split(' ').sort());
  });

  it('waits a limited time for objects that the new definition adds, and then applies the definition with a warning', () => {
    const { target, publisher, child, redefine } = serve(ROOT, false);
    expect(target.ask().kind).to.equal('ready');
    const redefining = redefine({});
    target.clock.advance(MAX_STANDBY_MS - 1);
    expect(target.ask().kind).to.equal('ready');
    expect(redefining.closed).to.equal(false);
    target.clock.advance(1);
    expect(redefining.closed).to.equal(true);
    expect(target.events).to.deep.include({
      level: 'warning',
      message:
        'target demo on 82 now uses its new settings, although it is not yet ready with them',
      about: { app: 'demo', serverKeys: ['82'] },
    });
    const answer = target.ask();
    expect(answer.status.progress.reason).to.equal('object H.1.demo.c');
    expect(answer.kind).to.equal('waiting');
    publisher.setSynced(child);
    expect(target.ask().kind).to.equal('ready');
  });

  it('takes a new definition in a new partition after a limited time, even if the target is not ready there', () => {
    const { target } = serve(ROOT, false);
    const definition = definitionOf({});
    const changing = follow(target.target.change({ definition, partition: target.partition(1) }));
    target.clock.advance(MAX_STANDBY_MS);
    expect(changing.subscription.closed).to.equal(true);
    expect(target.target.assignment.definition).to.equal(definition);
    expect(target.target.status()).to.deep.include({ isReady: false, partition: 1 });
  });

  it('applies the new definition as soon as the objects that it adds are synced', () => {
    const { target, publisher, child, redefine } = serve(ROOT, false);
    const redefining = redefine({});
    target.clock.advance(5000);
    expect(redefining.closed).to.equal(false);
    publisher.setSynced(child);
    publisher.notify();
    target.clock.advance(2000);
    expect(redefining.closed).to.equal(true);
    expect(names(target).split(' ')).to.have.members(LARGE.split(' '));
  });

  it('applies the last of several definitions', () => {
    const { target, redefine } = serve({ renderMinIntervalMs: 0 });
    target.ask();
    const all = [ROOT, {}, ROOT].map((each) => redefine({ ...each, renderMinIntervalMs: 0 }));
    target.clock.advance(0);
    expect(all.map(({ closed }) => closed)).to.deep.equal([true, true, true]);
    expect(names(target).split(' ')).to.have.members(SMALL.split(' '));
  });
});
