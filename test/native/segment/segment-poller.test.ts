// Tests the poller of one server key over the lifetimes of its publishers, with a manual clock.
import { expect } from 'chai';
import { segmentNames } from '#app/native/segment/segment-header.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { HeapMemory } from '../../support/heap-memory.js';
import {
  alterHeader,
  alterRecord,
  alterWord,
  sampleSegment,
} from '../../support/sample-segment.js';
import { HEADER, RECORD, SEGMENT_STATE } from '#app/native/segment/layout.js';

const SECOND = 1_000_000_000n;
const sample = sampleSegment();

/** Returns a segment with a heartbeat period of one second and its last heartbeat at `seconds`. */
function beating(seconds: bigint): Buffer {
  const bytes = Buffer.from(sample);
  const period = (header: Buffer) => void header.writeBigUInt64LE(SECOND, HEADER.heartbeatPeriodNs);
  alterHeader(bytes, period);
  alterWord(bytes, 'heartbeatNs', seconds * SECOND);
  return bytes;
}

/** @param stalledAfterSeconds how long a stalled publisher is served; 0 means forever */
function polledMemory(stalledAfterSeconds = 0) {
  const memory = new HeapMemory();
  let nowNs = 1n;
  const poller = new SegmentPoller(memory, 'c.p.82', '82', {
    nowNs: () => nowNs,
    stalledAfterSeconds,
  });
  return {
    memory,
    poller,
    state: () => poller.poll().publisher.state,
    pass: (milliseconds: number) => (nowNs += BigInt(milliseconds) * 1_000_000n),
    begin: () => memory.put('c.p.82', beating(nowNs / SECOND)),
  };
}

describe('A segment poller', () => {
  it('follows a server key through the states absent, live, stalled, live, closed, absent and live', () => {
    const { memory, poller, state, pass, begin } = polledMemory();
    expect(poller.poll().publisher).to.deep.equal({
      ...{ state: 'absent', reason: 'no segment c.p.82 in shared memory' },
    });
    pass(1000);
    const first = begin();
    const { publisher, source, changes } = poller.poll();
    expect(publisher.state).to.equal('live');
    expect(changes.length).to.equal(8);

    pass(6000);
    const late = poller.poll();
    expect(late.publisher).to.deep.equal({
      ...{ state: 'stalled', reason: 'no heartbeat from the publisher for 6.0 s' },
      heartbeatAgeSeconds: 6.000000001,
    });
    expect(late.source, 'goes on being served').to.equal(source);
    alterWord(first.bytes, 'heartbeatNs', 7n * SECOND);
    expect(state()).to.equal('live');

    alterWord(first.bytes, 'state', 2n);
    expect(poller.poll()).to.deep.include({ source: undefined, notifications: 0 });
    memory.remove('c.p.82');
    expect(state()).to.equal('absent');

    begin();
    const again = poller.poll();
    expect(again.publisher.state).to.equal('live');
    expect(again.source).not.to.equal(source);
    expect(again.changes.length, 'all changes from the beginning').to.equal(8);
  });

  it('serves a stalled publisher until the time limit, and again after its next heartbeat', () => {
    const { memory, poller, pass, begin } = polledMemory(2);
    pass(1000);
    const segment = begin();
    const { source } = poller.poll();
    pass(6900);
    expect(poller.poll()).to.deep.include({ source });
    pass(200);
    const reason = 'no heartbeat from the publisher for more than 7 s';
    expect(poller.poll()).to.deep.include({ source: undefined, changes: [], notifications: 0 });
    [segment.reads, segment.bytesAsked] = [0, 0];
    for (let poll = 0; poll < 5; poll++) {
      pass(1000);
      expect(poller.poll().publisher).to.deep.include({ state: 'stalled', reason });
    }
    expect([segment.reads, memory.openFiles], 'one small read per poll').to.deep.equal([5, 1]);
    expect(segment.bytesAsked).to.be.at.most(5 * 1024);
    alterWord(segment.bytes, 'notifications', 9n);
    expect(poller.poll().notifications, 'what a wait would begin with').to.equal(9);
    alterWord(segment.bytes, 'heartbeatNs', 13n * SECOND);
    const again = poller.poll();
    expect(again.publisher.state).to.equal('live');
    expect(again.source, 'nothing is opened or parsed anew').to.equal(source);
    expect(again.changes).to.deep.equal([]);
  });

  it("counts a heartbeat's age from the first poll that reads the heartbeat if the publisher's clock is ahead", () => {
    const { poller, state, pass, memory } = polledMemory();
    const segment = memory.put('c.p.82', beating(1_000_000n));
    expect(state()).to.equal('live');
    pass(4900);
    expect(state()).to.equal('live');
    pass(200);
    expect(poller.poll().publisher).to.deep.include({
      ...{ state: 'stalled', reason: 'no heartbeat from the publisher for 5.1 s' },
    });
    alterWord(segment.bytes, 'heartbeatNs', 1_000_001n * SECOND);
    expect(state()).to.equal('live');
  });

  it("counts a heartbeat's age from the first poll that reads the heartbeat if the publisher's clock is behind", () => {
    const { poller, state, pass, memory } = polledMemory(60);
    pass(700_000);
    const segment = memory.put('c.p.82', beating(100n));
    expect(poller.poll()).to.deep.include({ source: undefined });
    for (const second of [101n, 102n]) {
      pass(1000);
      alterWord(segment.bytes, 'heartbeatNs', second * SECOND);
      expect(poller.poll().publisher).to.deep.include({ state: 'live', heartbeatAgeSeconds: 0 });
    }
    pass(4900);
    expect(state()).to.equal('live');
    pass(200);
    expect(poller.poll().publisher).to.deep.include({
      ...{ state: 'stalled', reason: 'no heartbeat from the publisher for 5.1 s' },
    });
  });

  it('measures the age of a heartbeat to the nanosecond if publisher and poller have the same clock', () => {
    const { poller, pass, memory } = polledMemory();
    pass(10_000);
    const segment = memory.put('c.p.82', beating(9n));
    expect(poller.poll().publisher.heartbeatAgeSeconds).to.be.closeTo(1, 1e-8);
    pass(1500);
    alterWord(segment.bytes, 'heartbeatNs', 11n * SECOND);
    expect(poller.poll().publisher.heartbeatAgeSeconds).to.be.closeTo(0.5, 1e-8);
  });

  it('opens the last values of a publisher that died, and states the age of its heartbeat', () => {
    const { memory, poller, state, pass, begin } = polledMemory();
    expect(poller.openLast(), 'no segment').to.equal(undefined);
    pass(10_000);
    const segment = begin();
    expect(state()).to.equal('live');
    segment.isLocked = false;
    pass(4000);
    expect(state()).to.equal('dead');
    expect(memory.openFiles).to.equal(0);
    const last = poller.openLast();
    expect(last?.ageSeconds).to.be.closeTo(4, 0.001);
    expect(last?.readMore()).to.equal(false);
    expect(last?.source.roots.size).to.be.above(0);
    last?.close();
    expect(memory.openFiles).to.equal(0);
    const bytes = Buffer.from(segment.bytes);
    for (const [state, opens] of [
      [SEGMENT_STATE.live, true],
      [SEGMENT_STATE.building, false],
      [SEGMENT_STATE.closed, false],
    ] as const) {
      alterWord(bytes, 'state', BigInt(state));
      memory.put('c.p.82', bytes);
      const opened = poller.openLast();
      expect(opened !== undefined, String(state)).to.equal(opens);
      opened?.close();
    }
    memory.put('c.p.82', bytes.subarray(0, 100));
    expect(() => poller.openLast()).to.throw();
    expect(memory.openFiles).to.equal(0);
  });

  it('detects the death of a stalled publisher, even after it has stopped serving this publisher', () => {
    const { poller, state, pass, begin } = polledMemory(2);
    const segment = begin();
    poller.poll();
    pass(8000);
    expect(poller.poll().source).to.equal(undefined);
    segment.isLocked = false;
    pass(500);
    expect([state(), state()]).to.deep.equal(['dead', 'dead']);
  });

  it('stays in the state closed while the closed file keeps its name', () => {
    const { state, begin } = polledMemory();
    alterWord(begin().bytes, 'state', 2n);
    expect([state(), state()]).to.deep.equal(['closed', 'closed']);
  });

  it('reports the state superseded when a new generation has the name, and the state live at the next poll', () => {
    const { poller, state, pass, begin } = polledMemory();
    begin();
    const { source } = poller.poll();
    begin();
    expect(state(), 'within half a second of the last asking').to.equal('live');
    pass(500);
    expect(state()).to.equal('superseded');
    expect(state()).to.equal('live');
    expect(poller.poll().source).not.to.equal(source);
  });

  it('detects at once a segment that declares itself superseded', () => {
    const { state, begin } = polledMemory();
    const old = begin();
    state();
    begin();
    alterWord(old.bytes, 'state', 3n);
    expect([state(), state()]).to.deep.equal(['superseded', 'live']);
  });

  it('reports the PID of the publisher even after it has ended, and no PID without a segment', () => {
    const { poller, pass, begin } = polledMemory();
    expect(poller.poll().process).to.equal(undefined);
    pass(1000);
    const { bytes } = begin();
    const { process: owner } = poller.poll();
    expect(owner?.pid).to.be.above(0);
    alterWord(bytes, 'state', 2n);
    pass(1000);
    const closed = poller.poll();
    expect(closed.publisher.state).to.equal('closed');
    expect(closed.process).to.deep.equal(owner);
  });

  it('reports a removed segment as removed, not as replaced', () => {
    const { memory, poller, state, pass, begin } = polledMemory();
    begin();
    expect(state()).to.equal('live');
    memory.remove('c.p.82');
    pass(500);
    const { publisher, source } = poller.poll();
    const reason = 'segment was removed from shared memory';
    expect([publisher, source]).to.deep.equal([{ state: 'absent', reason }, undefined]);
    expect(poller.poll().publisher.reason).to.equal('no segment c.p.82 in shared memory');
    begin();
    expect(state()).to.equal('live');
  });

  it('reports a publisher as dead within half a second after its lock is released', () => {
    const { state, pass, begin } = polledMemory();
    const segment = begin();
    expect(state()).to.equal('live');
    segment.isLocked = false;
    pass(500);
    expect([state(), state()]).to.deep.equal(['dead', 'dead']);
    segment.isLocked = true;
    expect(state()).to.equal('live');
  });

  it('serves nothing until it knows whether the segment is locked', () => {
    const { poller, pass, begin } = polledMemory();
    const answers: ((isLocked: boolean) => void)[] = [];
    begin().askLock = (answer) => void answers.push(answer);
    const seen = () => {
      const { publisher, source } = poller.poll();
      return [publisher.state, source !== undefined];
    };
    expect(poller.poll().publisher).to.deep.equal({
      ...{
        state: 'building',
        reason: 'it is not yet known whether its publisher is running',
      },
    });
    expect(seen(), 'asked once').to.deep.equal(['building', false]);
    expect(answers.length).to.equal(1);
    answers[0]?.(true);
    expect(seen()).to.deep.equal(['live', true]);
    pass(500);
    expect(seen(), 'the last answer counts').to.deep.equal(['live', true]);
    answers[1]?.(false);
    expect(seen()).to.deep.equal(['dead', false]);
    expect(seen(), 'opened and asked for anew').to.deep.equal(['dead', false]);
    answers[2]?.(true);
    expect(seen()).to.deep.equal(['live', true]);
  });

  it('reports an unfinished segment as building, and does not serve it', () => {
    const { poller, state, begin } = polledMemory();
    const segment = begin();
    alterWord(segment.bytes, 'state', 0n);
    const { publisher, source } = poller.poll();
    expect([publisher.state, source]).to.deep.equal(['building', undefined]);
    alterWord(segment.bytes, 'state', 1n);
    expect(state()).to.equal('live');
  });

  it('reports an emptied segment as corrupt, and serves the segment once it is complete', () => {
    const { memory, poller, state, pass, begin } = polledMemory();
    const segment = begin();
    expect(state()).to.equal('live');
    segment.truncate(0);
    expect(poller.poll().publisher).to.deep.equal({
      ...{ state: 'corrupt', reason: 'Segment is corrupt: the file ends within the header page' },
    });
    expect(memory.openFiles).to.equal(0);
    segment.bytes = Buffer.from(sample);
    pass(999);
    expect(state(), 'not tried more than once a second').to.equal('corrupt');
    pass(1);
    expect(state()).to.equal('live');
  });

  it('reports a served segment as corrupt within half a second after its file is truncated', () => {
    const { poller, state, pass, begin } = polledMemory();
    const segment = begin();
    expect(state()).to.equal('live');
    segment.truncate(4096);
    pass(500);
    expect(poller.poll().publisher).to.deep.equal({
      state: 'corrupt',
      reason: 'Segment is corrupt: the file was truncated to 4096 of 30720 bytes',
    });
    segment.bytes = Buffer.from(sample);
    pass(1000);
    expect(state()).to.equal('live');
  });

  it('spends at most 5 % of the time on a segment that is repeatedly corrupt', () => {
    const { state, pass, begin } = polledMemory();
    const segment = begin();
    alterRecord(segment.bytes, 3, (record) => record.writeUInt8(9, RECORD.recordKind));
    // Each read takes 100 ms; a failed poll needs several reads.
    segment.beforeRead = () => {
      pass(100);
    };
    expect(state()).to.equal('corrupt');
    const { reads } = segment;
    expect(reads).to.be.above(2);
    pass(reads * 100 * 19);
    expect(state()).to.equal('corrupt');
    expect(segment.reads).to.equal(reads);
    pass(reads * 100 * 2);
    expect(state()).to.equal('corrupt');
    expect(segment.reads).to.be.above(reads);
  });

  it('reports a reopened segment as corrupt until it knows whether a publisher holds the lock', () => {
    const { poller, state, pass, begin } = polledMemory();
    const segment = begin();
    segment.truncate(0);
    const failed = poller.poll().publisher;
    expect(failed.state).to.equal('corrupt');
    const answers: ((isLocked: boolean) => void)[] = [];
    segment.askLock = (answer) => void answers.push(answer);
    segment.bytes = Buffer.from(sample);
    pass(1000);
    expect(poller.poll().publisher).to.deep.equal(failed);
    answers[0]?.(true);
    expect(state()).to.equal('live');
  });

  it('reads neither segments of untrusted owners nor segments that all users may write, if trusted owners are configured', () => {
    const table = [
      [1000, false, 'live', ''],
      [1001, false, 'absent', 'Segment c.p.82 belongs to user 1001, who is not in trusted_owners'],
      [1000, true, 'absent', 'Segment c.p.82 is writable by all users'],
    ] as const;
    for (const [uid, isWritableByAll, state, reason] of table) {
      const memory = new HeapMemory();
      memory.put('c.p.82', beating(0n)).ownership = { uid, isWritableByAll };
      const options = { nowNs: () => 1n, trustedOwners: [1000] };
      const { publisher } = new SegmentPoller(memory, 'c.p.82', '82', options).poll();
      expect(publisher.state).to.equal(state);
      expect(publisher.reason).to.contain(reason);
      expect(memory.openFiles).to.equal(state === 'live' ? 1 : 0);
    }
  });

  it('reports why it cannot open a segment, and opens the segment once this is possible', () => {
    const { memory, poller, state, pass, begin } = polledMemory();
    begin();
    memory.refuse('c.p.82', 'EACCES: permission denied');
    expect(poller.poll().publisher).to.deep.equal({
      ...{ state: 'absent', reason: 'Cannot open c.p.82: EACCES: permission denied' },
    });
    memory.admit('c.p.82');
    pass(1000);
    expect(state()).to.equal('live');
  });

  it('needs at most one small read per poll while nothing changes (segment format, section 10)', () => {
    const { state, begin } = polledMemory();
    const segment = begin();
    state();
    [segment.reads, segment.bytesAsked] = [0, 0];
    for (let poll = 0; poll < 10; poll++) state();
    expect(segment.reads).to.equal(10);
    expect(segment.bytesAsked).to.be.at.most(10 * 1024);
  });

  it('reports the number of notifications and the counts of dropped items', () => {
    const { poller, begin } = polledMemory();
    const { bytes } = begin();
    alterWord(bytes, 'notifications', (1n << 32n) | 5n);
    alterWord(bytes, 'objectsDropped', 2n);
    alterWord(bytes, 'variablesDropped', 3n);
    expect(poller.poll()).to.deep.include({
      notifications: 2 ** 32 + 5,
      drops: { objects: 2, variables: 3 },
    });
    alterWord(bytes, 'notifications', 1n << 32n);
    expect(poller.poll().notifications, 'after a wrap of the futex word').to.equal(2 ** 32);
  });

  it('does not report an unreadable segment as corrupt', () => {
    const { poller, state, pass, begin } = polledMemory();
    const segment = begin();
    expect(state()).to.equal('live');
    segment.beforeRead = () => {
      throw Object.assign(new Error('EACCES: permission denied, stat'), { syscall: 'stat' });
    };
    expect(poller.poll().publisher).to.deep.include({
      ...{ state: 'absent', reason: 'EACCES: permission denied, stat' },
    });
    segment.beforeRead = () => undefined;
    pass(1000);
    expect(state()).to.equal('live');
  });

  it('lists no segments if their folder cannot be read', () =>
    expect(segmentNames('/dev/null')).to.deep.equal([]));

  it('closes the files that it opened', () => {
    const { memory, poller, state, begin } = polledMemory();
    begin();
    state();
    expect(memory.openFiles).to.equal(1);
    poller.close();
    expect(memory.openFiles).to.equal(0);
  });
});
