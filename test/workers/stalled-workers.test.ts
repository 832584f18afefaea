// Tests what a target shows of workers that hang.
import { expect } from 'chai';
import fc from 'fast-check';
import { posixMemory } from '#app/native/os/posix.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import { defaultsOf } from '#app/rules/table.js';
import type { PollResult, Poller } from '#app/streams/poller.js';
import type { FoldSettings } from '#app/workers/row-rules.js';
import { WORKERS_SETTINGS } from '#app/workers/settings.js';
import { workersPollers } from '#app/workers/workers-poller.js';
import { pollAll } from '../support/polled-values.js';
import { freshSegments } from '../support/segments.js';
import { valuesOf } from './tree-values.js';

const CAPACITY = { records: 256, stringBytes: 16_384, slots: 128, frameBytes: 16_384 };
const SECOND_MS = 1000;
/** A worker counts, and perhaps another one takes its place. Then some workers send heartbeats for a while. */
const step = fc.record({
  ...{ number: fc.nat(2), by: fc.bigInt(0n, 9n), isReplaced: fc.boolean() },
  seconds: fc.constantFrom(1, 6, 70),
  beating: fc.subarray([0, 1, 2]),
});

describe('a target whose workers hang', () => {
  const segments = freshSegments();
  let pollers: Poller[] = [];
  let nowMs = 0;
  beforeEach(() => (nowMs = SECOND_MS));
  afterEach(() => {
    for (const poller of pollers) poller.close();
    pollers = [];
  });

  const polling = (own: Partial<FoldSettings> = {}, stalledAfterSeconds = 60) => {
    const settings = { ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'], ...own };
    const pool = { contextId: segments.contextId, poolName: 'pool', stalledAfterSeconds };
    const nowNs = () => BigInt(nowMs) * 1_000_000n;
    const poller = workersPollers(posixMemory(), settings, { ...pool, nowNs })('shop');
    pollers.push(poller);
    return poller;
  };
  const worker = (number: number) => {
    const publisher = segments.publisher(`shop-${number}`, { capacity: CAPACITY });
    const root = publisher.addRoot(`host.${number}.shop`, 'Shop');
    const counter = publisher.addVariable(root, 'sent', 'u64', { kind: 'counter' });
    counter.set(BigInt(number));
    publisher.addVariable(root, 'open', 'i64', { kind: 'gauge' }).set(BigInt(10 * number));
    publisher.addVariable(root, 'note', 'string').set(`note ${number}`);
    publisher.place();
    return { publisher, root, counter };
  };
  /** Polls once a second for `seconds`, in which only these workers send heartbeats. Returns the last result. */
  const pass = (poller: Poller, seconds: number, ...beating: Publisher[]): PollResult => {
    let seen = pollAll(poller);
    for (let second = 0; second < seconds; second++) {
      nowMs += SECOND_MS;
      for (const publisher of beating) publisher.heartbeat();
      seen = pollAll(poller);
    }
    return seen;
  };
  const NUMBERS = ['sent', 'open', 'workers', 'stalledWorkers'];

  it('counts them after five missed heartbeats, and shows their last values for a while', () => {
    const poller = polling();
    const [one, two] = [worker(1), worker(2)];
    const before = pass(poller, 5, one.publisher);
    expect(before.publisher.reason).to.equal('2 workers are shown');
    expect(valuesOf(before, ['stalledWorkers'])).to.deep.equal({ stalledWorkers: 0n });
    const seen = pass(poller, 1, one.publisher);
    expect(seen.publisher).to.deep.equal({
      state: 'live',
      reason: '2 workers are shown: worker shop-2 is stalled: it sends no heartbeat',
      isPartial: true,
      heartbeatAgeSeconds: 0,
    });
    expect(seen.warnings).to.deep.equal(['worker shop-2 is stalled: it sends no heartbeat']);
    expect(valuesOf(seen, NUMBERS)).to.deep.equal({
      ...{ sent: 3n, open: 30n, workers: 2n, stalledWorkers: 1n },
    });
    two.counter.set(5n);
    expect(valuesOf(pass(poller, 1, one.publisher), ['sent'])).to.deep.equal({ sent: 6n });
  });

  it('drops their gauges and texts later, and never their counts', () => {
    const poller = polling({ each: ['note'] });
    const [one, two] = [worker(1), worker(2)];
    pass(poller, 65, one.publisher);
    expect(valuesOf(pass(poller, 0), ['open'])).to.deep.equal({ open: 30n });
    const note = (number: number): string => `note {"worker":"shop-${number}"}`;
    const text = (number: number) => ({ type: 'string', text: `note ${number}` });
    const rest = { endedWorkers: 0n, leftOutWorkers: 0n, leftOutVariables: 0n };
    const served = valuesOf(pass(poller, 1, one.publisher));
    expect(served).to.deep.equal({
      ...{ sent: 3n, open: 10n, workers: 2n, stalledWorkers: 1n, ...rest },
      [note(1)]: text(1),
    });
    const again = valuesOf(pass(poller, 1, one.publisher, two.publisher));
    expect(again).to.deep.equal({
      ...{ sent: 3n, open: 30n, workers: 2n, stalledWorkers: 0n, ...rest },
      [note(1)]: text(1),
      [note(2)]: text(2),
    });
  });

  it('always shows the counts of all workers, and the gauges of those that it serves, over random histories', () =>
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        segments.clear();
        const poller = polling();
        const workers = [1, 2, 3].map((number) => ({ number, ...worker(number), silent: 0 }));
        let sent = 6n;
        pass(poller, 0);
        for (const { number, by, isReplaced, seconds, beating } of steps) {
          const one = workers[number];
          one?.counter.add(by);
          sent += by;
          if (isReplaced && one !== undefined) {
            one.publisher.close();
            Object.assign(one, { ...worker(one.number), silent: 0 });
            sent += BigInt(one.number);
          }
          pass(poller, 0);
          const alive = workers.filter((_, index) => beating.includes(index));
          const seen = pass(poller, seconds, ...alive.map(({ publisher }) => publisher));
          for (const each of workers)
            each.silent = alive.includes(each) ? 0 : each.silent + seconds;
          const served = workers.filter(({ silent }) => silent <= 65);
          if (served.length === 0) {
            expect(seen.source).to.equal(undefined);
            continue;
          }
          const open = served.reduce((sum, each) => sum + BigInt(10 * each.number), 0n);
          const stalled = workers.filter(({ silent }) => silent > 5).length;
          expect(valuesOf(seen, NUMBERS)).to.deep.equal({
            ...{ sent, open, workers: 3n, stalledWorkers: BigInt(stalled) },
          });
        }
      }),
      { numRuns: 30 },
    ));

  it('says once that a worker sends heartbeats again', () => {
    const poller = polling();
    const [one, two] = [worker(1), worker(2)];
    expect(pass(poller, 6, one.publisher)).to.deep.include({
      warnings: ['worker shop-2 is stalled: it sends no heartbeat'],
      notices: [],
    });
    expect(pass(poller, 1, one.publisher, two.publisher)).to.deep.include({
      warnings: [],
      notices: ['worker shop-2 sends heartbeats again'],
    });
    two.publisher.close();
    expect(pass(poller, 1, one.publisher)).to.deep.include({ warnings: [], notices: [] });
  });

  it('shows the variables that a worker has added or removed while it hung', () => {
    const poller = polling();
    const [one, two] = [worker(1), worker(2)];
    pass(poller, 66, one.publisher);
    const late = two.publisher.addVariable(two.root, 'late', 'i64', { kind: 'gauge' });
    late.set(7n);
    const names = ['sent', 'open', 'late'];
    expect(valuesOf(pass(poller, 1, one.publisher), names)).to.deep.equal({ sent: 3n, open: 10n });
    expect(valuesOf(pass(poller, 1, one.publisher, two.publisher), names)).to.deep.equal({
      ...{ sent: 3n, open: 30n, late: 7n },
    });
    pass(poller, 66, one.publisher);
    two.publisher.removeVariable(late);
    pass(poller, 1, one.publisher);
    expect(valuesOf(pass(poller, 1, one.publisher, two.publisher), names)).to.deep.equal({
      ...{ sent: 3n, open: 30n },
    });
  });

  it('is stalled if all workers hang: first with the last values, then without, and then live again', () => {
    const poller = polling();
    const [one] = [worker(1), worker(2)];
    const stalled = pass(poller, 6);
    expect(stalled.publisher).to.deep.equal({
      state: 'stalled',
      reason: '2 workers are stalled: no heartbeat from the publisher for 6.0 s',
      heartbeatAgeSeconds: 6,
    });
    expect(valuesOf(stalled, NUMBERS)).to.deep.equal({
      ...{ sent: 3n, open: 30n, workers: 2n, stalledWorkers: 2n },
    });
    const { source, publisher } = pass(poller, 60);
    expect(publisher).to.deep.equal({
      state: 'stalled',
      reason: '2 workers are stalled: no heartbeat from the publisher for more than 65 s',
      heartbeatAgeSeconds: 66,
      isOverdue: true,
    });
    expect(source).to.equal(undefined);
    const live = pass(poller, 1, one.publisher);
    expect(live.source).to.equal(stalled.source);
    expect(valuesOf(live, NUMBERS)).to.deep.equal({
      ...{ sent: 3n, open: 10n, workers: 2n, stalledWorkers: 1n },
    });
  });

  it('keeps the values of a stalled target for queries of its tree', () => {
    const poller = polling();
    worker(1);
    pass(poller, 6);
    expect(poller.openLast?.()).to.equal(undefined);
    pass(poller, 60);
    const last = poller.openLast?.();
    while (last?.readMore() === true);
    expect(last?.ageSeconds).to.equal(66);
    expect(valuesOf({ source: last?.source }, ['sent'])).to.deep.equal({ sent: 1n });
  });

  it('is stalled forever with its last values if stalled_after_seconds is 0', () => {
    const poller = polling({}, 0);
    worker(1);
    const seen = pass(poller, 600);
    expect(seen.publisher.state).to.equal('stalled');
    expect(valuesOf(seen, ['open'])).to.deep.equal({ open: 10n });
  });

  it('has the counts of workers that hung before the first poll', () => {
    // The clock of the publishers, so that the first poll knows the age of their heartbeats.
    nowMs = Number(process.hrtime.bigint() / 1_000_000n) + 100 * SECOND_MS;
    const [one] = [worker(1), worker(2)];
    const poller = polling();
    expect(pollAll(poller).publisher.reason).to.equal(
      '2 workers are stalled: no heartbeat from the publisher for more than 65 s',
    );
    const seen = pass(poller, 1, one.publisher);
    expect(valuesOf(seen, NUMBERS)).to.deep.equal({
      ...{ sent: 3n, open: 10n, workers: 2n, stalledWorkers: 1n },
    });
  });

  it('is live with the counts of workers that were killed while they hung', () => {
    const poller = polling();
    const { publisher } = worker(1);
    pass(poller, 66);
    publisher.close();
    const seen = pass(poller, 1);
    expect(seen.publisher.state).to.equal('live');
    expect(valuesOf(seen, [...NUMBERS, 'endedWorkers'])).to.deep.equal({
      ...{ sent: 1n, workers: 0n, stalledWorkers: 0n, endedWorkers: 1n },
    });
  });
});
