// Tests which warnings of a format a target logs.
import { expect } from 'chai';
import type { TargetEvent } from '#app/model.js';
import type { PollResult } from '#app/streams/poller.js';
import { Scheduler, TaskQueue } from '#app/streams/scheduler.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import { Reporter } from '#app/targets/partitions/reporter.js';
import { definitionOf } from '../../support/definition-of.js';
import { pollResult } from '../../support/poll-results.js';

const HOUR_MS = 3_600_000;
const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `file ${from + index} is damaged`);

describe('the log of a target', () => {
  /** Takes poll results with warnings; returns what is logged. */
  function setUp() {
    const clock = { ms: 5 };
    const nowMs = () => clock.ms;
    const tasks = new Scheduler();
    const makePoller = () => expect.fail('nothing is polled');
    const pool = new PollerPool({ makePoller, tasks, nowMs });
    const reporter = new Reporter(definitionOf(), pool, new TaskQueue(tasks, nowMs), nowMs);
    const events = (texts: Pick<PollResult, 'warnings' | 'notices'>): readonly TargetEvent[] => {
      const input = { kind: 'poll', pollResult: pollResult(texts) } as const;
      const update = { hasRendered: false, isDirty: false, isReady: false, snapshot: undefined };
      const reports = reporter.reportsOn({ kind: 'processed', input, ...update });
      return reports.flatMap((each) => (each.kind === 'event' ? each.event : []));
    };
    const logged = (warnings: readonly string[]): string[] =>
      events({ warnings }).map(({ message }) => message);
    return { clock, events, logged };
  }
  const LIMIT =
    'further warnings are not logged for an hour; the status page names the first omission';

  it('has each warning of a format once', () => {
    const { logged } = setUp();
    expect(logged(names(2))).to.deep.equal(names(2));
    expect(logged(names(3))).to.deep.equal(names(1, 2));
    expect(logged([])).to.deep.equal([]);
    expect(logged(names(3))).to.deep.equal([]);
  });

  it('has each notice of a format once, as info', () => {
    const { events } = setUp();
    const warnings = ['worker a is stalled'];
    const notices = ['worker b goes on'];
    expect(events({ warnings, notices })).to.deep.equal([
      { level: 'warning', message: 'worker a is stalled' },
      { level: 'info', message: 'worker b goes on' },
    ]);
    expect(events({ warnings, notices })).to.deep.equal([]);
    expect(events({ notices: ['worker a goes on'] })).to.deep.equal([
      { level: 'info', message: 'worker a goes on' },
    ]);
  });

  it('has at most 16 warnings an hour, and then says so', () => {
    const { clock, logged } = setUp();
    expect(logged(names(30))).to.deep.equal([...names(16), LIMIT]);
    clock.ms += HOUR_MS - 1;
    expect(logged(['another file is damaged'])).to.deep.equal([]);
    clock.ms += 1;
    expect(logged(['another file is damaged'])).to.deep.equal(['another file is damaged']);
  });

  it('repeats a warning after an hour only if it had ceased', () => {
    const { clock, logged } = setUp();
    logged(names(2));
    clock.ms += HOUR_MS;
    expect(logged(names(1))).to.deep.equal([]);
    expect(logged(names(2))).to.deep.equal(names(1, 1));
  });
});
