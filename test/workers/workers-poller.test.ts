// Tests that segments of workers are polled as one tree with folded values.
import { expect } from 'chai';
import fc from 'fast-check';
import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { MUTABLE, MUTABLE_OFFSET } from '#app/native/segment/layout.js';
import { posixMemory } from '#app/native/os/posix.js';
import type { Publisher } from '#app/native/publisher/publisher.js';
import type { Poller } from '#app/streams/poller.js';
import { WORKERS_SETTINGS } from '#app/workers/settings.js';
import type { FoldSettings } from '#app/workers/row-rules.js';
import { MAX_WORKERS } from '#app/workers/worker-queue.js';
import { workersPollers } from '#app/workers/workers-poller.js';
import { defaultsOf } from '#app/rules/table.js';
import { HeapMemory } from '../support/heap-memory.js';
import { pollAll } from '../support/polled-values.js';
import { freshSegments } from '../support/segments.js';
import { valuesOf } from './tree-values.js';

const CAPACITY = { records: 256, stringBytes: 16_384, slots: 128, frameBytes: 16_384 };
const LARGE = { records: 65_536, stringBytes: 1_048_576, slots: 9216, frameBytes: 16_384 };
const MINUTE_MS = 60_000;
const step = fc.record({ number: fc.nat(3), by: fc.bigInt(0n, 9n), ends: fc.boolean() });

describe('a poller of workers', () => {
  const segments = freshSegments();
  let pollers: Poller[] = [];
  let nowMs = 0;
  beforeEach(() => (nowMs = 1000));
  afterEach(() => {
    for (const poller of pollers) poller.close();
    pollers = [];
  });

  const polling = (own: Partial<FoldSettings> = {}, options = {}) => {
    const settings = { ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'], ...own };
    const pool = { contextId: segments.contextId, poolName: 'pool', ...options };
    const nowNs = () => BigInt(nowMs) * 1_000_000n;
    const poller = workersPollers(posixMemory(), settings, { ...pool, nowNs })('shop');
    pollers.push(poller);
    return {
      poller,
      /** Polls after a second, when the pollers of the workers check their locks again. */
      values: (): Record<string, unknown> => {
        nowMs += 1000;
        return valuesOf(pollAll(poller));
      },
    };
  };
  const worker = (number: number, capacity = CAPACITY) => {
    const publisher = segments.publisher(`shop-${number}`, { capacity, heartbeatMs: 0 });
    const root = publisher.addRoot(`host.${number}.shop`, 'Shop');
    return { publisher, root };
  };
  const counting = (number: number, sent: bigint) => {
    const { publisher, root } = worker(number);
    const counter = publisher.addVariable(root, 'sent', 'u64', { kind: 'counter' });
    counter.set(sent);
    const gauge = publisher.addVariable(root, 'open', 'i64', { kind: 'gauge' });
    gauge.set(BigInt(number));
    publisher.place();
    return { publisher, counter, gauge };
  };

  it('has no source before the first worker', () => {
    const { poller } = polling();
    expect(poller.poll()).to.deep.include({
      source: undefined,
      publisher: { state: 'absent', reason: 'no segment matches shop-*' },
    });
  });

  it('has no source before the first live worker, and says that all publishers have ended', () => {
    for (const number of [1, 2]) {
      const { publisher } = counting(number, 1n);
      const bytes = segments.bytes(`shop-${number}`);
      publisher.close();
      writeFileSync(segments.path(`shop-${number}`), bytes);
    }
    const { poller } = polling();
    expect(pollAll(poller)).to.deep.include({
      source: undefined,
      publisher: {
        state: 'absent',
        reason: 'the publishers of all segments that match shop-* have ended',
      },
    });
  });

  type Add = (publisher: Publisher, root: ReturnType<Publisher['addRoot']>, number: number) => void;
  const table: readonly [string, Add, Partial<FoldSettings>, unknown][] = [
    [
      'the sum of counters of type u64',
      (p, root, n) => p.addVariable(root, 'v', 'u64', { kind: 'counter' }).set(BigInt(n)),
      {},
      6n,
    ],
    [
      'the sum of counters of type f64',
      (p, root, n) => p.addVariable(root, 'v', 'f64', { kind: 'counter' }).set(n / 2),
      {},
      3,
    ],
    [
      'the sum of gauges by default',
      (p, root, n) => p.addVariable(root, 'v', 'i64', { kind: 'gauge' }).set(BigInt(-n)),
      {},
      -6n,
    ],
    [
      'the minimum of gauges if the rule is min',
      (p, root, n) => p.addVariable(root, 'v', 'i64', { kind: 'gauge' }).set(BigInt(2 - n)),
      { gauges: 'min' },
      -1n,
    ],
    [
      'the maximum of gauges if the rule is max',
      (p, root, n) => p.addVariable(root, 'v', 'f64', { kind: 'gauge' }).set(-n),
      { gauges: 'max' },
      -1,
    ],
    [
      'the minimum of gauges with a name in min',
      (p, root, n) => p.addVariable(root, 'v', 'u64').set(BigInt(n)),
      { min: ['v*'] },
      1n,
    ],
    [
      'the maximum of gauges with a name in max',
      (p, root, n) => p.addVariable(root, 'v', 'u64').set(BigInt(n)),
      { max: ['v'] },
      3n,
    ],
    [
      'the sum of histograms',
      (p, root, n) =>
        p.addVariable(root, 'v', 'histogram', { schema: [1, 2] }).set([BigInt(n), 0n, 1n], n),
      {},
      { type: 'histogram', counts: [6n, 0n, 3n], sum: 6 },
    ],
    [
      'the sum of summaries, without quantiles',
      (p, root, n) =>
        p.addVariable(root, 'v', 'summary', { schema: [0.5] }).set(BigInt(n), n, [0.1]),
      {},
      { type: 'summary', count: 6n, sum: 6, values: [] },
    ],
    [
      'the text of the first worker',
      (p, root, n) => p.addVariable(root, 'v', 'string').set(`text ${n}`),
      {},
      { type: 'string', text: 'text 1' },
    ],
    [
      'a Boolean that is true in one worker as true',
      (p, root, n) => p.addVariable(root, 'v', 'bool').set(n === 2),
      {},
      1n,
    ],
    [
      'the sum of numbers that a row shows as a counter',
      (p, root, n) => p.addVariable(root, 'v', 'u64').set(BigInt(n)),
      { gauges: 'max', rows: [{ className: 'Shop', variable: 'v', rule: 'counter' }] },
      6n,
    ],
    [
      'the maximum of gauges if the rule of their row is max',
      (p, root, n) => p.addVariable(root, 'v', 'u64').set(BigInt(n)),
      { rows: [{ className: 'Shop', variable: '{name}', rule: 'max' }] },
      3n,
    ],
    [
      'gauges by the settings of the target rather than by their row',
      (p, root, n) => p.addVariable(root, 'v', 'u64').set(BigInt(n)),
      { min: ['v'], rows: [{ className: 'Shop', variable: 'v', rule: 'max' }] },
      1n,
    ],
    [
      'gauges by the row of their own class only',
      (p, root, n) => p.addVariable(root, 'v', 'u64').set(BigInt(n)),
      { rows: [{ className: 'Till', variable: 'v', rule: 'max' }] },
      6n,
    ],
  ];
  for (const [title, add, settings, wanted] of table)
    it(`shows ${title}`, () => {
      for (const number of [1, 2, 3]) {
        const { publisher, root } = worker(number);
        add(publisher, root, number);
        publisher.place();
      }
      const { values } = polling(settings);
      expect(values()).to.deep.include({ v: wanted, workers: 3n, endedWorkers: 0n });
    });

  it('follows the values of its workers', () => {
    const [one, two] = [counting(1, 10n), counting(2, 20n)];
    const { values } = polling();
    expect(values()).to.deep.include({ sent: 30n, open: 3n });
    one.counter.set(11n);
    two.gauge.set(7n);
    expect(values()).to.deep.include({ sent: 31n, open: 8n });
  });

  it('keeps the last counts of a worker that has ended, and drops its gauges', () => {
    const [one, two] = [counting(1, 10n), counting(2, 20n)];
    const { values } = polling();
    values();
    two.counter.set(25n);
    two.publisher.close();
    expect(values()).to.deep.include({ sent: 35n, open: 1n, workers: 1n, endedWorkers: 1n });
    const again = counting(2, 1n);
    expect(values()).to.deep.include({ sent: 36n, open: 3n, workers: 2n });
    again.counter.set(5n);
    one.counter.set(12n);
    expect(values()).to.deep.include({ sent: 42n });
    one.publisher.close();
    again.publisher.close();
    expect(values())
      .to.deep.include({ sent: 42n, workers: 0n, endedWorkers: 3n })
      .and.not.have.property('open');
  });

  it('never shows a lower count, and always the count of all workers, over random histories', () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        segments.clear();
        const { values } = polling();
        const workers = new Map<number, ReturnType<typeof counting>>();
        let total = 0n;
        for (const { number, by, ends } of steps) {
          const one = workers.get(number) ?? counting(number, 0n);
          // A worker that starts and ends between two polls is never seen.
          if (!workers.has(number)) values();
          workers.set(number, one);
          one.counter.add(by);
          total += by;
          if (ends) one.publisher.close();
          if (ends) workers.delete(number);
          if (by % 2n === 0n) expect(values()).to.deep.include({ sent: total });
        }
      }),
      { numRuns: 50 },
    ));

  it('merges objects by their path, and adds those that only one worker has', () => {
    for (const number of [1, 2]) {
      const { publisher, root } = worker(number);
      const floor = publisher.addObject(root, `host.${number}.shop.floor`, 'Floor');
      publisher.addVariable(floor, 'steps', 'u64', { kind: 'counter' }).set(5n);
      const own = publisher.addObject(root, `host.${number}.shop.desk.${number}`, 'Desk');
      publisher.addVariable(own, 'queue', 'u64').set(BigInt(number));
      publisher.place();
    }
    const { values } = polling();
    expect(values()).to.deep.include({
      'floor steps': 10n,
      'desk.1 queue': 1n,
      'desk.2 queue': 2n,
    });
  });

  it('shows gauges with the rule each for each worker, on objects with its label', () => {
    const queued = (number: number) => {
      const { publisher, root } = worker(number);
      publisher.addVariable(root, 'sent', 'u64', { kind: 'counter' }).set(5n);
      publisher.addVariable(root, 'queue', 'u64').set(BigInt(number));
      const floor = publisher.addObject(root, `host.${number}.shop.floor`, 'Floor');
      publisher.addVariable(floor, 'queue', 'u64').set(BigInt(10 * number));
      publisher.place();
      return publisher;
    };
    const [, two] = [queued(1), queued(2)];
    const { poller, values } = polling({ each: ['queue'], workerLabel: 'process' });
    const last = values();
    expect(last).to.deep.include({ sent: 10n, workers: 2n });
    const queues = (all: Record<string, unknown>) =>
      Object.entries(all).filter(([key]) => key.includes('queue'));
    expect(queues(last)).to.have.deep.members([
      ['queue {"process":"shop-1"}', 1n],
      ['queue {"process":"shop-2"}', 2n],
      ['floor queue {"process":"shop-1"}', 10n],
      ['floor queue {"process":"shop-2"}', 20n],
    ]);
    const [root] = poller.poll().source?.roots ?? [];
    const own =
      root === undefined ? [] : [...root.children].filter(({ name }) => name === root.name);
    expect(own.map(({ className }) => className)).to.deep.equal(['Shop', 'Shop']);
    two.close();
    expect(queues(values())).to.have.deep.members([
      ['queue {"process":"shop-1"}', 1n],
      ['floor queue {"process":"shop-1"}', 10n],
    ]);
    queued(3);
    expect(queues(values())).to.have.lengthOf(4);
  });

  it('states as its start that of the worker that began first, and keeps it', () => {
    const started = (number: number): number => {
      counting(number, 1n);
      const poller = segments.poller(`shop-${number}`);
      const { source } = pollAll(poller);
      poller.close();
      return source?.startedUnixMs ?? NaN;
    };
    const [first] = [started(1), started(2)];
    const { poller, values } = polling();
    values();
    const startOf = () => poller.poll().source?.startedUnixMs;
    expect(startOf()).to.equal(first);
    const { publisher, root } = worker(3);
    publisher
      .addVariable(publisher.addObject(root, 'host.3.shop.late', 'Till'), 'n', 'u64')
      .set(1n);
    publisher.place();
    const sessions = worker(4);
    sessions.publisher.place();
    values();
    const now = Date.now();
    const session = sessions.publisher.addObject(sessions.root, 'host.4.shop.session', 'Session');
    sessions.publisher.addVariable(session, 'sent', 'u64', { kind: 'counter' }).set(1n);
    values();
    expect(startOf(), 'while further workers begin').to.equal(first);
    const [top] = poller.poll().source?.roots ?? [];
    const starts = new Map(
      [...(top?.children ?? [])].map((each) => [each.name.split('.').at(-1), each]),
    );
    const own = segments.poller('shop-3');
    expect(starts.get('late')?.startedUnixMs, 'that of a new worker').to.equal(
      pollAll(own).source?.startedUnixMs,
    );
    own.close();
    expect(starts.get('session')?.startedUnixMs, 'now').to.be.at.least(now);
  });

  it('removes an object that its only worker removes, and begins anew if it returns', () => {
    const { publisher, root } = worker(1);
    const add = () => {
      const session = publisher.addObject(root, 'host.1.shop.session', 'Session');
      publisher.addVariable(session, 'sent', 'u64', { kind: 'counter' }).set(7n);
      return session;
    };
    const session = add();
    publisher.place();
    const { values } = polling();
    expect(values()).to.deep.include({ 'session sent': 7n });
    publisher.removeObject(session);
    expect(values()).not.to.have.property('session sent');
    add();
    expect(values()).to.deep.include({ 'session sent': 7n });
  });

  it('keeps the count of an object that one of its workers removes', () => {
    const sessions = [1, 2].map((number) => {
      const { publisher, root } = worker(number);
      const session = publisher.addObject(root, `host.${number}.shop.pool`, 'Pool');
      publisher.addVariable(session, 'sent', 'u64', { kind: 'counter' }).set(7n);
      publisher.place();
      return () => publisher.removeObject(session);
    });
    const { values } = polling();
    expect(values()).to.deep.include({ 'pool sent': 14n });
    sessions[0]?.();
    expect(values()).to.deep.include({ 'pool sent': 14n });
  });

  it('removes objects that no worker has had for ten minutes', () => {
    counting(1, 1n);
    const { publisher, root } = worker(2);
    const session = publisher.addObject(root, 'host.2.shop.session', 'Session');
    publisher.addVariable(session, 'sent', 'u64', { kind: 'counter' }).set(7n);
    publisher.place();
    const { values } = polling();
    values();
    publisher.close();
    expect(values()).to.deep.include({ 'session sent': 7n });
    nowMs += 9 * MINUTE_MS;
    expect(values()).to.deep.include({ 'session sent': 7n });
    nowMs += MINUTE_MS;
    expect(values()).not.to.have.property('session sent');
    expect(values()).to.deep.include({ sent: 1n });
  });

  it('stores no value of an object that it has removed', () => {
    counting(1, 1n);
    const { publisher, root } = worker(2);
    const session = publisher.addObject(root, 'host.2.shop.session', 'Session');
    const sent = publisher.addVariable(session, 'sent', 'u64', { kind: 'counter' });
    sent.set(7n);
    publisher.place();
    const { poller, values } = polling();
    values();
    sent.set(8n);
    publisher.close();
    // Nothing copies the values until the object is removed.
    poller.poll();
    nowMs += 10 * MINUTE_MS;
    const third = worker(3);
    poller.poll();
    for (const name of ['a', 'b', 'c', 'd']) third.publisher.addVariable(third.root, name, 'u64');
    third.publisher.place();
    expect(values()).to.include({ a: undefined, b: undefined, c: undefined, d: undefined });
  });

  describe('shows a histogram with other bounds', () => {
    const bounded = (number: number, schema: readonly number[]) => {
      const { publisher, root } = worker(number);
      publisher.addVariable(root, 'v', 'histogram', { schema }).set([BigInt(number), 0n, 0n], 1);
      publisher.place();
      return publisher;
    };
    const counts = (...list: readonly bigint[]) => ({
      v: { type: 'histogram', counts: list, sum: 1 },
    });

    it('once no worker has the earlier bounds', () => {
      const former = bounded(1, [1, 2]);
      const { poller, values } = polling();
      expect(values()).to.deep.include(counts(1n, 0n, 0n));
      bounded(2, [3, 4]);
      expect(values()).to.deep.include(counts(1n, 0n, 0n));
      expect(poller.poll().publisher.reason).to.contain('bounds differ');
      former.close();
      expect(values()).to.deep.include(counts(2n, 0n, 0n));
      expect(poller.poll().publisher.reason).not.to.contain('bounds differ');
    });

    it('after all workers with the earlier bounds have ended', () => {
      const former = bounded(1, [1, 2]);
      const { values } = polling();
      values();
      former.close();
      expect(values()).to.deep.include(counts(1n, 0n, 0n));
      bounded(2, [3, 4]);
      expect(values()).to.deep.include(counts(2n, 0n, 0n));
    });

    it('not if its worker has removed it meanwhile', () => {
      const former = bounded(1, [1, 2]);
      const { publisher, root } = worker(2);
      const later = publisher.addVariable(root, 'v', 'histogram', { schema: [3, 4] });
      publisher.place();
      const { values } = polling();
      values();
      publisher.removeVariable(later);
      values();
      former.close();
      expect(values()).to.deep.include(counts(1n, 0n, 0n));
    });
  });

  it('leaves out a variable whose type, kind or bounds differ from those of another worker', () => {
    const types = [
      { type: 'u64', kind: 'counter' },
      { type: 'i64', kind: 'counter' },
      { type: 'u64', kind: 'gauge' },
    ] as const;
    const workers = types.map(({ type, kind }, index) => {
      const { publisher, root } = worker(index + 1);
      const variable = publisher.addVariable(root, 'v', type, { kind });
      variable.set(1n);
      publisher.place();
      return { publisher, root, variable };
    });
    const { poller, values } = polling();
    expect(values()).to.deep.include({ v: 1n, leftOutVariables: 2n });
    const reason = 'its type, kind or bounds differ from those of another worker';
    expect(poller.poll().warnings).to.deep.equal([
      `host.2.shop.v: ${reason}`,
      `host.3.shop.v: ${reason}`,
    ]);
    expect(poller.poll().publisher.reason).to.equal(
      `3 workers are shown: host.2.shop.v: ${reason}`,
    );
    const [, second, third] = workers;
    if (second !== undefined) second.publisher.removeVariable(second.variable);
    expect(values()).to.deep.include({ leftOutVariables: 1n });
    if (third !== undefined) third.publisher.removeObject(third.root);
    expect(values()).to.deep.include({ leftOutVariables: 0n });
    expect(poller.poll().warnings).to.deep.equal([]);
  });

  it('names a worker whose segment is corrupt, and shows the others', () => {
    counting(1, 10n);
    counting(2, 20n);
    const bytes = segments.bytes('shop-2');
    bytes.fill(0xff, 4096, 8192);
    writeFileSync(segments.path('shop-2'), bytes);
    const { poller, values } = polling();
    expect(values()).to.deep.include({ sent: 10n, workers: 1n, leftOutWorkers: 1n });
    expect(poller.poll().warnings).to.have.lengthOf(1);
    expect(poller.poll().warnings?.[0]).to.match(/^segment shop-2: .*record/);
  });

  it('counts a worker once whose segment is read again after an error', () => {
    counting(1, 10n);
    counting(2, 20n);
    const { values } = polling();
    expect(values()).to.deep.include({ sent: 30n });
    const good = segments.bytes('shop-2');
    const file = openSync(segments.path('shop-2'), 'r+');
    const write = (bytes: Buffer) => writeSync(file, bytes, 0, bytes.length, 0);
    const bad = Buffer.from(good);
    bad.writeUInt32LE(0xffff_ffff, MUTABLE_OFFSET + MUTABLE.directory);
    write(bad);
    for (let poll = 0; poll < 4; poll++)
      expect(values(), 'the last values stay').to.deep.include({ sent: 30n, endedWorkers: 0n });
    write(good);
    nowMs += 130_000;
    for (let poll = 0; poll < 4; poll++) values();
    expect(values()).to.deep.include({ sent: 30n, workers: 2n, endedWorkers: 0n });
    closeSync(file);
  });

  for (const [title, end] of [
    ['its segment has been read again', () => undefined],
    ['it ends meanwhile', (publisher: Publisher) => publisher.close()],
  ] as const)
    it(`counts the last values of a worker after an error, until ${title}`, () => {
      counting(1, 10n);
      const { publisher, root } = worker(2, LARGE);
      const sent = publisher.addVariable(root, 'sent', 'u64', { kind: 'counter' });
      sent.set(20n);
      // More than one poll reads.
      for (let number = 0; number < LARGE.slots - 10; number++)
        publisher.addVariable(root, `v${number}`, 'u64', { kind: 'counter' }).set(1n);
      publisher.place();
      const { poller } = polling();
      const values = () => {
        nowMs += 1000;
        return valuesOf(pollAll(poller), ['sent', 'v0']);
      };
      expect(values()).to.deep.equal({ sent: 30n, v0: 1n });
      const good = segments.bytes('shop-2');
      const file = openSync(segments.path('shop-2'), 'r+');
      const directory = MUTABLE_OFFSET + MUTABLE.directory;
      const write = (value: number) => {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32LE(value);
        writeSync(file, bytes, 0, 4, directory);
      };
      write(0xffff_ffff);
      for (let poll = 0; poll < 4; poll++) values();
      write(good.readUInt32LE(directory));
      closeSync(file);
      sent.set(25n);
      nowMs += 130_000;
      const seen: unknown[] = [];
      let polls = 0;
      for (let hasMore = true; hasMore; polls++) {
        const result = poller.poll();
        const { sent: sum, v0 } = valuesOf(result, ['sent', 'v0']);
        seen.push(sum);
        expect(v0).to.equal(1n);
        ({ hasMore } = result);
        if (polls === 0) end(publisher);
      }
      expect(polls).to.be.above(1);
      expect(seen[0]).to.equal(30n);
      const last = values();
      expect(last).to.deep.equal({ sent: 35n, v0: 1n });
      expect(seen.filter((each) => each !== 30n && each !== 35n)).to.deep.equal([]);
    });

  it('counts a worker once whose segment stays after its death', () => {
    const memory = new HeapMemory();
    const settings = { ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'] };
    const nowNs = () => BigInt((nowMs += 1000)) * 1_000_000n;
    const options = { contextId: 'c', poolName: 'p', list: () => ['shop-1'], nowNs };
    const poller = workersPollers(memory, settings, options)('shop');
    counting(1, 10n);
    const segment = memory.put('c.p.shop-1', segments.bytes('shop-1'));
    expect(valuesOf(pollAll(poller))).to.deep.include({ sent: 10n, workers: 1n });
    segment.isLocked = false;
    for (let poll = 0; poll < 4; poll++) pollAll(poller);
    expect(valuesOf(pollAll(poller))).to.deep.include({ sent: 10n, workers: 0n, endedWorkers: 1n });
    poller.close();
  });

  for (const isLate of [false, true])
    it(`ends a killed worker whose segment the next worker removes before a poll notices the kill (${isLate ? 'another' : 'the same'} thread checks the lock)`, () => {
      const memory = new HeapMemory();
      const settings = { ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'] };
      const nowNs = () => BigInt((nowMs += 1000)) * 1_000_000n;
      const names = { contextId: 'c', poolName: 'p', list: () => ['shop-1', 'shop-2'] };
      const poller = workersPollers(memory, settings, { ...names, nowNs })('shop');
      pollers.push(poller);
      counting(1, 10n);
      counting(2, 10n);
      const killed = memory.put('c.p.shop-1', segments.bytes('shop-1'));
      memory.put('c.p.shop-2', segments.bytes('shop-2'));
      expect(valuesOf(pollAll(poller))).to.deep.include({ sent: 20n, open: 3n, workers: 2n });
      const answers: (() => void)[] = [];
      killed.askLock = (answer) => {
        if (isLate) answers.push(() => answer(false));
        else answer(false);
      };
      memory.remove('c.p.shop-1');
      pollAll(poller);
      for (const answer of answers.splice(0)) answer();
      expect(valuesOf(pollAll(poller))).to.deep.include({ sent: 20n, open: 2n, workers: 1n });
    });

  it('counts a worker once whose segment is removed and returns', () => {
    counting(1, 10n);
    const { counter } = counting(2, 20n);
    const { values } = polling();
    expect(values()).to.deep.include({ sent: 30n, workers: 2n });
    const away = segments.path('away-2');
    renameSync(segments.path('shop-2'), away);
    for (let poll = 0; poll < 3; poll++) expect(values()).to.deep.include({ sent: 30n });
    renameSync(away, segments.path('shop-2'));
    counter.set(25n);
    for (let poll = 0; poll < 3; poll++) values();
    expect(values()).to.deep.include({ sent: 35n, workers: 2n, endedWorkers: 0n });
  });

  it('reads the last counts of a worker whose segment is removed between two polls', () => {
    counting(1, 10n);
    const { counter } = counting(2, 20n);
    const { values } = polling();
    expect(values()).to.deep.include({ sent: 30n });
    counter.set(25n);
    rmSync(segments.path('shop-2'));
    values();
    expect(values()).to.deep.include({ sent: 35n, workers: 2n });
    nowMs += 10_000;
    expect(values()).to.deep.include({ sent: 35n, workers: 1n, endedWorkers: 1n });
  });

  it('ends a worker whose segment stays removed for ten seconds', () => {
    counting(1, 10n);
    counting(2, 20n);
    const { values } = polling();
    expect(values()).to.deep.include({ workers: 2n });
    rmSync(segments.path('shop-2'));
    values();
    expect(values()).to.deep.include({ open: 3n, workers: 2n });
    nowMs += 10_000;
    expect(values()).to.deep.include({ sent: 30n, open: 1n, workers: 1n, endedWorkers: 1n });
  });

  it('folds the values of large workers in steps of at most 1,024 values', () => {
    for (const number of [1, 2]) {
      const { publisher, root } = worker(number, LARGE);
      for (let variable = 0; variable < LARGE.slots - 10; variable++)
        publisher.addVariable(root, `v${variable}`, 'u64', { kind: 'counter' }).set(1n);
      publisher.place();
    }
    const { poller } = polling();
    const { source } = pollAll(poller);
    const steps = [...(source?.computingValues?.() ?? [])];
    expect(steps.length).to.be.at.least((2 * (LARGE.slots - 10)) / 1024);
  });

  it('shows no gauge whose series has ended in each worker', () => {
    const { gauge } = counting(1, 10n);
    const { values } = polling();
    expect(values()).to.deep.include({ open: 1n });
    gauge.unset();
    expect(values()).to.deep.include({ sent: 10n, open: undefined });
  });

  it('shows no lower sum of doubles if a worker ends', () => {
    const publishers = [0.1, 0.2, 0.3].map((seconds, index) => {
      const { publisher, root } = worker(index + 1);
      publisher.addVariable(root, 'busy', 'f64', { kind: 'counter' }).set(seconds);
      publisher.place();
      return publisher;
    });
    const { values } = polling();
    const before = values()['busy'];
    publishers[2]?.close();
    expect(values()['busy']).to.equal(before);
  });

  it('names and counts the variables beyond segment_max_items, also those of an object beyond it', () => {
    counting(1, 10n);
    const { poller, values } = polling({}, { segmentMaxItems: 7 });
    expect(values())
      .to.deep.include({ sent: 10n, leftOutVariables: 1n })
      .and.not.have.property('open');
    expect(poller.poll().warnings).to.deep.equal([
      'host.1.shop.open: the limit segment_max_items is reached',
    ]);
    const { publisher, root } = worker(2);
    const till = publisher.addObject(root, `${root.name}.till`, 'Till');
    for (const name of ['a', 'b']) publisher.addVariable(till, name, 'u64');
    publisher.place();
    expect(values()).to.deep.include({ leftOutVariables: 3n });
    publisher.removeObject(till);
    expect(values()).to.deep.include({ leftOutVariables: 1n });
  });

  /** Returns a poller of `count` copies of a worker's segment, which are in the heap. */
  const pollingCopies = (count: number, list = (names: string[]) => [...names]) => {
    const memory = new HeapMemory();
    const names = Array.from({ length: count }, (_, index) => `shop-${index}`);
    const settings = { ...defaultsOf(WORKERS_SETTINGS), segments: ['shop-*'] };
    const nowNs = () => BigInt((nowMs += 1000)) * 1_000_000n;
    const options = { contextId: 'c', poolName: 'p', list: () => list(names), nowNs };
    const poller = workersPollers(memory, settings, options)('shop');
    counting(1, 1n);
    const bytes = segments.bytes('shop-1');
    const copies = names.map((name) => memory.put(`c.p.${name}`, bytes));
    return { memory, names, poller, copies, bytes };
  };

  for (const [where, isAsync] of [
    ['the same thread', false],
    ['another thread', true],
  ] as const)
    it(`shows all live workers beside 2,000 segments of dead processes (${where} checks the locks)`, () => {
      const { memory, names, poller, copies, bytes } = pollingCopies(2000);
      const answers: (() => void)[] = [];
      for (const [index, copy] of copies.entries()) {
        copy.isLocked = index % 10 === 9;
        const { askLock } = copy;
        if (isAsync) copy.askLock = (answer) => answers.push(() => askLock(answer));
      }
      if (isAsync)
        expect(poller.poll().publisher.reason).to.equal(
          'it is not yet known whether a publisher of a segment that matches shop-* is running',
        );
      let most = 0;
      const shown = (polls: number): string => {
        for (let poll = 0; poll < polls; poll++) {
          poller.poll();
          most = Math.max(most, memory.openFiles);
          for (const answer of answers.splice(0)) answer();
        }
        return pollAll(poller).publisher.reason;
      };
      expect(shown(isAsync ? 20 : 0)).to.equal('200 workers are shown');
      expect(poller.poll().warnings).to.deep.equal([]);
      names.push('shop-z');
      memory.put('c.p.shop-z', bytes);
      memory.put('c.p.shop-1000', bytes);
      expect(shown(20), 'after a new key, and a known one').to.equal('202 workers are shown');
      expect(most).to.be.at.most(2 * MAX_WORKERS);
      poller.close();
      expect(memory.openFiles).to.equal(0);
    });

  it('reads segments of dead processes again only after a change of the directory', () => {
    let listed: string[] | undefined;
    const { poller, copies, memory, bytes } = pollingCopies(20, (names) => (listed ??= [...names]));
    for (const copy of copies) copy.isLocked = false;
    const reads = () => copies.reduce((sum, copy) => sum + copy.reads, 0);
    pollAll(poller);
    const before = reads();
    for (let poll = 0; poll < 5; poll++) pollAll(poller);
    expect(reads()).to.equal(before);
    memory.put('c.p.shop-3', bytes);
    listed = undefined;
    expect(pollAll(poller).publisher.reason).to.equal('1 worker is shown');
  });

  it('has at most 256 workers, and counts those that it leaves out', () => {
    const { memory, names, poller, copies } = pollingCopies(400);
    for (const copy of copies.slice(300, 310)) copy.isLocked = false;
    const seen = pollAll(poller);
    expect(seen.publisher.reason).to.equal(
      `256 workers are shown, 134 left out: 134 workers such as shop-256: a target has at most ${MAX_WORKERS} workers`,
    );
    expect(valuesOf(seen)).to.deep.include({ leftOutWorkers: 134n });
    expect(memory.openFiles).to.equal(256);
    for (const name of names.splice(0, 300)) memory.remove(`c.p.${name}`);
    for (let poll = 0; poll < 2; poll++) pollAll(poller);
    expect(pollAll(poller).publisher.reason).to.equal('90 workers are shown');
    expect(memory.openFiles).to.equal(90);
    poller.close();
    expect(memory.openFiles).to.equal(0);
  });
});
