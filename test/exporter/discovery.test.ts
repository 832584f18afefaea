// Tests which discovered targets are shown, and for how long.
import { expect } from 'chai';
import { NO_DISCOVERY } from '#app/config/file-rule.js';
import { Discovery } from '#app/exporter/discovery.js';
import type { Discovered } from '#app/exporter/discovery.js';
import type { PublisherState } from '#app/model.js';
import { Scheduler } from '#app/streams/scheduler.js';
import type { FoundTarget } from '#app/streams/poller.js';
import { FakeTarget } from '../support/fake-target.js';
import { follow } from '../support/follow.js';
import { VirtualClock } from '../support/virtual-clock.js';

const DISCOVER = { ...NO_DISCOVERY, native: ['*'], forgetAfterSeconds: 10, maxTargets: 3 };

describe('discovery', () => {
  /** A discovery whose finder finds `found`. Each target of the exporter has the state in `states`. */
  const setUp = (isConfigured: (target: FoundTarget) => boolean = () => false) => {
    const clock = new VirtualClock();
    const parts = {
      found: [] as FoundTarget[],
      leftOut: [] as string[],
      closed: 0,
      forgotten: new Set<string>() as ReadonlySet<string>,
    };
    const states = new Map<string, PublisherState>();
    const discovery = new Discovery({
      finder: () => ({
        *find(forgotten) {
          parts.forgotten = forgotten;
          yield;
          return { targets: parts.found, leftOut: parts.leftOut };
        },
        close: () => {
          parts.closed++;
        },
      }),
      targets: () =>
        [...states].map(([serverKey, state]) => {
          const target = new FakeTarget('ads', [serverKey]);
          target.instance = `h.${serverKey}.ads`;
          target.isDiscovered = true;
          target.publisher = { state, reason: '' };
          return target;
        }),
      tasks: new Scheduler(
        () => clock.now(),
        (next) => void clock.schedule(next),
      ),
      scheduler: clock,
      nowMs: () => clock.now(),
    });
    const { seen, subscription } = follow(discovery.watch(DISCOVER, isConfigured));
    const shown = (all: readonly Discovered[] = seen) =>
      all.at(-1)?.targets.map(({ serverKey }) => serverKey);
    const after = (seconds: number) => {
      clock.advance(seconds * 1000);
      return shown();
    };
    return { clock, parts, states, discovery, seen, subscription, shown, after };
  };
  const target = (serverKey: string, more: Partial<FoundTarget> = {}): FoundTarget => ({
    ...{ app: 'ads', serverKey, instance: `h.${serverKey}.ads`, file: 'first' },
    ...more,
  });

  it('emits no target at first, and the found targets after each pass that changed them', () => {
    const { parts, seen, after } = setUp();
    expect(seen).to.deep.equal([{ targets: [], leftOut: [], isComplete: false }]);
    after(0.01);
    expect(seen.at(-1)).to.deep.equal({ targets: [], leftOut: [], isComplete: true });
    parts.found = [target('1'), target('2')];
    expect(after(1)).to.deep.equal(['1', '2']);
    after(5);
    expect(seen).to.have.lengthOf(3);
  });

  it('shows a target within two seconds after it was published', () => {
    const { parts, after } = setUp();
    after(3.3);
    parts.found = [target('1')];
    expect(after(2)).to.deep.equal(['1']);
  });

  it('removes a target some time after its publisher died', () => {
    const { parts, states, after } = setUp();
    parts.found = [target('1'), target('2')];
    expect(after(1)).to.deep.equal(['1', '2']);
    states.set('1', 'dead').set('2', 'live');
    expect(after(10)).to.deep.equal(['1', '2']);
    expect(after(2)).to.deep.equal(['2']);
    states.delete('1');
    expect(after(60), 'while its file exists').to.deep.equal(['2']);
  });

  it('removes a target some time after its segment was removed', () => {
    const { parts, after } = setUp();
    parts.found = [target('1')];
    after(1);
    parts.found = [];
    expect(after(10)).to.deep.equal(['1']);
    expect(after(2)).to.deep.equal([]);
  });

  it('keeps a target whose publisher returns in time', () => {
    const { parts, states, after, seen } = setUp();
    parts.found = [target('1')];
    after(1);
    parts.found = [];
    after(8);
    parts.found = [target('1', { file: 'second' })];
    states.set('1', 'absent');
    after(1);
    states.set('1', 'live');
    expect(after(60)).to.deep.equal(['1']);
    expect(seen).to.have.lengthOf(2);
  });

  it('shows a forgotten target again when another publisher takes over its key', () => {
    const { parts, states, after } = setUp();
    parts.found = [target('1')];
    states.set('1', 'dead');
    after(1);
    expect(after(20)).to.deep.equal([]);
    states.clear();
    parts.found = [target('1', { file: 'second' })];
    expect(after(1)).to.deep.equal(['1']);
  });

  it('keeps a target whose publisher returns just before it is forgotten', () => {
    const { parts, states, after } = setUp();
    parts.found = [target('1')];
    after(1);
    states.set('1', 'dead');
    after(10.5);
    parts.found = [target('1', { file: 'second' })];
    // The target still has the state of the first publisher.
    expect(after(1)).to.deep.equal(['1']);
    states.set('1', 'live');
    expect(after(60)).to.deep.equal(['1']);
  });

  it('removes a target whose second publisher dies, too', () => {
    const { parts, states, after } = setUp();
    parts.found = [target('1')];
    after(1);
    parts.found = [target('1', { file: 'second' })];
    states.set('1', 'dead');
    expect(after(12)).to.deep.equal(['1']);
    expect(after(3)).to.deep.equal([]);
  });

  for (const state of ['absent', 'stalled', 'building', 'corrupt', 'incompatible'] as const)
    it(`keeps a target whose publisher is ${state}`, () => {
      const { parts, states, after } = setUp();
      parts.found = [target('1')];
      states.set('1', state);
      expect(after(60)).to.deep.equal(['1']);
    });

  it('leaves out further targets than the limit, names them, and shows them when there is room', () => {
    const { parts, seen, after } = setUp();
    parts.leftOut = ['segment x: unreadable'];
    parts.found = ['1', '2', '3', '4', '5'].map((key) => target(key));
    expect(after(1)).to.deep.equal(['1', '2', '3']);
    expect(seen.at(-1)?.leftOut).to.deep.equal([
      'segment x: unreadable',
      'root h.4.ads on 4: there are max_targets targets',
      'root h.5.ads on 5: there are max_targets targets',
    ]);
    parts.found = parts.found.slice(1);
    expect(after(12)).to.deep.equal(['2', '3', '4']);
  });

  it('does not count forgotten targets, and tells their keys to the finder', () => {
    const { parts, states, after } = setUp();
    parts.found = ['1', '2', '3'].map((key) => target(key));
    for (const key of ['1', '2', '3']) states.set(key, 'dead');
    after(1);
    expect(after(12)).to.deep.equal([]);
    states.clear();
    parts.found = ['1', '2', '3', '4', '5'].map((key) => target(key));
    expect(after(1)).to.deep.equal(['4', '5']);
    expect([...parts.forgotten]).to.deep.equal(['1', '2', '3']);
  });

  it('stays forgotten after a second publisher that also crashed', () => {
    const { parts, states, after } = setUp();
    parts.found = [target('1')];
    after(1);
    parts.found = [target('1', { file: 'second' })];
    after(1);
    states.set('1', 'dead');
    expect(after(14)).to.deep.equal([]);
    expect(after(30)).to.deep.equal([]);
  });

  it('leaves out a root whose application cannot begin the name of a metric', () => {
    const { parts, seen, after } = setUp();
    parts.found = [target('1', { app: 'my-shop' })];
    expect(after(1)).to.deep.equal([]);
    expect(seen.at(-1)?.leftOut.join()).to.match(
      /^root h\.1\.ads on 1: its application is "my-shop", allowed: /,
    );
  });

  it('leaves a root to the target of the configuration that shows it', () => {
    const { parts, after } = setUp(({ serverKey }) => serverKey === '2');
    parts.found = [target('1'), target('2')];
    expect(after(1)).to.deep.equal(['1']);
  });

  it('removes a target at once when a target of the configuration chooses its root', () => {
    const chosen = new Set<string>();
    const { parts, after } = setUp(({ serverKey }) => chosen.has(serverKey));
    parts.found = ['1', '2', '3', '4'].map((key) => target(key));
    expect(after(1)).to.deep.equal(['1', '2', '3']);
    chosen.add('2');
    expect(after(1)).to.deep.equal(['1', '3', '4']);
    chosen.clear();
    parts.found = parts.found.slice(0, 3);
    expect(after(12)).to.deep.equal(['1', '3', '2']);
  });

  it('keeps its targets through a reload, except those that the new configuration excludes', () => {
    const { parts, discovery, subscription, after, shown } = setUp();
    parts.found = [target('1'), target('2')];
    after(1);
    subscription.unsubscribe();
    expect(parts.closed).to.equal(1);
    const again = follow(discovery.watch(DISCOVER, ({ serverKey }) => serverKey === '1'));
    expect(shown(again.seen)).to.deep.equal(['2']);
    again.subscription.unsubscribe();
    expect(shown(follow(discovery.watch(NO_DISCOVERY, () => false)).seen)).to.deep.equal([]);
  });
});
