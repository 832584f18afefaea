// Targets whose partition fails or does not answer.
import { expect } from 'chai';
import { MAX_STANDBY_MS, PARTITION_RETRY_MS } from '#app/targets/handover.js';
import { definitionOf } from '../../support/definition-of.js';
import { FailingPartition } from '../../support/failing-partition.js';
import { follow } from '../../support/follow.js';
import { observing } from '../../support/observing-catalogue.js';
import { freshServed } from '../../support/served.js';
import { StepQueue } from '../../support/step-queue.js';

describe('a target whose old or new partition fails', () => {
  const { publishers, serve: serveOne } = freshServed();

  const serve = (given = {}) => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('H.1.demo', 'Root');
    const x = publisher.addVariable(root, 'x', 'u64');
    const lag = publisher.addVariable(root, 'lag', 'u64');
    x.set(1);
    lag.set(1);
    publisher.place();
    const target = serveOne(given);
    const partition = (number: number) => new FailingPartition(target.partition(number));
    const move = (to: FailingPartition) => follow(target.target.change({ partition: to }));
    const moved = (to: FailingPartition): FailingPartition => {
      move(to);
      target.clock.advance(0);
      expect(target.target.status().partition).to.equal(to.number);
      return to;
    };
    const warnings = () =>
      target.events.filter(({ level }) => level === 'warning').map(({ message }) => message);
    return { publisher, root, x, lag, target, partition, move, moved, warnings };
  };

  it('answers 503 with the reason, and recovers by itself', () => {
    const { target, partition, moved, warnings } = serve();
    const home = moved(partition(1));
    home.trouble = 'out of memory';
    home.fail('it crashed');
    const answer = target.ask();
    expect(answer.kind).to.equal('waiting');
    expect(answer.status).to.deep.include({ isReady: false, root: '', partition: 1 });
    expect(answer.status.progress.reason).to.equal('a restart, partition 1 failed: it crashed');
    target.clock.advance(PARTITION_RETRY_MS);
    expect(target.ask().status.progress.reason).to.contain('out of memory');
    home.trouble = '';
    target.clock.advance(PARTITION_RETRY_MS - 1);
    expect(target.ask().kind).to.equal('waiting');
    target.clock.advance(1);
    expect(target.ask().kind).to.equal('ready');
    expect(target.target.status().isReady).to.equal(true);
    expect(warnings()).to.deep.equal([
      'target demo on 82 partition 1 failed: it crashed',
      'target demo on 82 partition 1 failed: out of memory',
    ]);
  });

  it('answers waiting demands at once', () => {
    const { target, partition, moved } = serve();
    const home = moved(partition(1));
    home.isDeaf = true;
    home.fail('first');
    target.clock.advance(PARTITION_RETRY_MS);
    const { seen, subscription } = follow(target.target.demand());
    target.clock.advance(0);
    expect(seen).to.have.length(0);
    home.fail('again');
    expect(seen.map(({ kind }) => kind)).to.deep.equal(['waiting']);
    expect(subscription.closed).to.equal(true);
  });

  it('samples observed variables again after the restart', () => {
    const { target, publisher, lag, partition, moved } = serve({
      catalogue: observing(),
      renderMinIntervalMs: 1,
    });
    const home = moved(partition(1));
    home.fail('it crashed');
    target.clock.advance(PARTITION_RETRY_MS);
    lag.set(5);
    publisher.notify();
    target.clock.advance(2000);
    expect(target.series()).to.include('demo_lag_count 1');
  });

  it('moves to another partition at once', () => {
    const { target, partition, move, moved } = serve();
    const home = moved(partition(1));
    home.trouble = 'gone';
    home.fail('gone');
    const moving = move(partition(2));
    expect(moving.subscription.closed).to.equal(true);
    target.clock.advance(0);
    expect(target.ask()).to.deep.include({ kind: 'ready' });
    expect(target.target.status().partition).to.equal(2);
  });

  it('can leave a partition that does not answer, and answers waiting demands from its new partition', () => {
    const { target, partition, move, moved } = serve();
    const home = moved(partition(1));
    home.isDeaf = true;
    home.fail('now deaf');
    target.clock.advance(PARTITION_RETRY_MS);
    const { seen } = follow(target.target.demand());
    target.clock.advance(0);
    expect(seen).to.have.length(0);
    const moving = move(partition(2));
    target.clock.advance(0);
    expect(seen.map(({ kind, status }) => [kind, status.partition])).to.deep.equal([['ready', 2]]);
    expect(moving.subscription.closed).to.equal(true);
  });

  it('stays in its old partition when the new partition fails', () => {
    const { target, partition, move, warnings } = serve();
    target.ask();
    const bad = partition(1);
    bad.trouble = 'no threads left';
    const moving = move(bad);
    expect(moving.subscription.closed).to.equal(true);
    expect(target.ask()).to.deep.include({ kind: 'ready' });
    expect(target.target.assignment.partition.number).to.equal(0);
    target.clock.advance(MAX_STANDBY_MS);
    expect(warnings()).to.deep.equal([
      'target demo on 82 stays in its partition: partition 1 failed: no threads left',
    ]);
  });

  it('stays in its old partition when the new partition gets no memory', () => {
    const { target, warnings } = serve();
    target.ask();
    const makeKernel = () => {
      throw new Error('no memory');
    };
    const moving = follow(
      target.target.change({ partition: target.partition(1, undefined, makeKernel) }),
    );
    expect(moving.subscription.closed).to.equal(true);
    expect(target.ask()).to.deep.include({ kind: 'ready' });
    expect(warnings()).to.deep.equal([
      'target demo on 82 stays in its partition: partition 1 failed: no memory',
    ]);
  });

  it('stays in its old partition when it does not become ready in the new partition', () => {
    const { target, warnings } = serve();
    target.ask();
    const queue = new StepQueue(target.clock);
    const moving = follow(target.target.change({ partition: target.partition(1, queue) }));
    target.clock.advance(MAX_STANDBY_MS - 1);
    expect(moving.subscription.closed).to.equal(false);
    target.clock.advance(1);
    expect(moving.subscription.closed).to.equal(true);
    expect(warnings()).to.deep.equal([
      'target demo on 82 stays in its partition: it did not become ready in partition 1',
    ]);
    queue.stepAll();
    expect(target.ask()).to.deep.include({ kind: 'ready' });
    expect(target.target.status().partition).to.equal(0);
  });

  it('applies a new definition once the partition is restarted', () => {
    const { target, x, partition, moved } = serve({ renderMinIntervalMs: 0 });
    const home = moved(partition(1));
    home.trouble = 'gone';
    home.fail('gone');
    const definition = definitionOf({ renderMinIntervalMs: 0, seedPaths: ['@root'] });
    follow(target.target.change({ definition }));
    expect(target.ask().kind).to.equal('waiting');
    home.trouble = '';
    target.clock.advance(PARTITION_RETRY_MS);
    x.set(3);
    expect(target.series()).to.include('demo_root_x{object="@root"} 3');
    expect(target.target.assignment.definition).to.equal(definition);
  });

  it('selects its previous root even if the partition fails again before the target is ready', () => {
    const { target, publisher, root, partition, moved } = serve();
    const home = moved(partition(1));
    publisher.addVariable(root, 'unset', 'u64');
    // Without a former root, the target would choose this root.
    publisher.addRoot('H.0.demo', 'Root');
    for (let failure = 0; failure < 3; failure++) {
      home.fail('it crashed');
      target.clock.advance(2 * PARTITION_RETRY_MS);
      expect(target.target.status()).to.deep.include({ isReady: false, root: 'H.1.demo' });
    }
  });

  it('selects its previous root even if the partition fails again before the target has a root', () => {
    const { target, publisher, partition, moved } = serve();
    const home = moved(partition(1));
    target.ask();
    // If the target did not know its former root, it would choose this root.
    publisher.addRoot('H.0.demo', 'Root');
    home.trouble = 'out of memory';
    home.fail('it crashed');
    target.clock.advance(2 * PARTITION_RETRY_MS);
    home.trouble = '';
    target.clock.advance(PARTITION_RETRY_MS);
    expect(target.ask().status.root).to.equal('H.1.demo');
  });

  it('answers a waiting demand when it loses its root after its new partition has failed', () => {
    const { target, publisher, partition } = serve({ renderMinIntervalMs: 1 });
    const queue = new StepQueue(target.clock);
    const moving = follow(target.target.change({ partition: target.partition(1, queue) }));
    while (!moving.subscription.closed)
      expect(queue.step() || target.clock.step(), 'a further step').to.equal(true);
    const bad = partition(2);
    bad.trouble = 'no threads left';
    const definition = definitionOf({ renderMinIntervalMs: 1, seedPaths: ['@root'] });
    follow(target.target.change({ definition, partition: bad }));
    const { seen } = follow(target.target.demand());
    target.clock.advance(0);
    expect(seen).to.have.length(0);
    publisher.close();
    target.clock.advance(2000);
    expect(seen.map(({ kind, status }) => [kind, status.progress.reason])).to.deep.equal([
      ['waiting', 'a restart, partition 2 failed: no threads left'],
    ]);
  });
});
