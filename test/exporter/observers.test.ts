// The log lines about omitted objects and series, waiting targets and skipped snapshots.
import { expect } from 'chai';
import { Subject, tap } from 'rxjs';
import {
  LOSSES,
  watchLosses,
  sinkLog,
  statusLine,
  watchReadiness,
  watchRefusals,
} from '#app/exporter/observers.js';
import type { InternalMetric, TargetEvent } from '#app/model.js';
import type { SinkEvent } from '#app/sinks/sink.js';
import { INTERNAL_METADATA } from '#app/targets/internal-metrics.js';
import { FakeTarget } from '../support/fake-target.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { VirtualClock } from '../support/virtual-clock.js';

describe('the log of omissions', () => {
  const PERIOD_MS = 5000;
  const watching = (...targets: readonly FakeTarget[]) => {
    const clock = new VirtualClock();
    const { seen, subscription } = follow(watchLosses({ targets }, clock));
    /** Sets the metrics of the first target, and returns the events of the next check. */
    const look = (metrics?: InternalMetric[]): readonly TargetEvent[] => {
      const before = seen.length;
      if (metrics !== undefined && targets[0] !== undefined) targets[0].metrics = metrics;
      clock.advance(PERIOD_MS);
      return seen.slice(before);
    };
    return { look, subscription };
  };
  const dropped = (value: number): InternalMetric => ({
    name: 'shm_exporter_target_dropped_objects',
    type: 'gauge',
    help: '',
    value,
  });
  const clashes = (value: number): InternalMetric => ({
    name: 'shm_exporter_target_series_clashes_total',
    type: 'counter',
    help: '',
    value,
  });

  it('is derived only from metrics that every target has', () =>
    expect(INTERNAL_METADATA.map(({ name }) => name)).to.include.members([...LOSSES.keys()]));

  it('reports when objects are first dropped, and when all objects are shown again', () => {
    const { look } = watching(new FakeTarget());
    const about = { app: 'ads', serverKeys: ['82'] };
    const begins = 'is missing 3 objects: its publisher had no room for them';
    const ends = 'shows all objects again: its publisher has room for them';
    expect(look([dropped(0)])).to.deep.equal([]);
    expect(look([dropped(3)])).to.deep.equal([
      { level: 'warning', message: `target ads on 82 ${begins}`, about },
    ]);
    expect(look([dropped(5)])).to.deep.equal([]);
    expect(look([]), 'while its root is lost').to.deep.equal([]);
    expect(look([dropped(5)])).to.deep.equal([]);
    expect(look([dropped(0)])).to.deep.equal([
      { level: 'info', message: `target ads on 82 ${ends}`, about },
    ]);
    expect(look([dropped(0)])).to.deep.equal([]);
  });

  it('reports when the count of omitted series starts to rise, and when it stops rising', () => {
    const { look } = watching(new FakeTarget('adh', ['80', '81']));
    const about = { app: 'adh', serverKeys: ['80', '81'] };
    const why = 'because other series have the same name and labels';
    expect(look([clashes(2)])).to.deep.equal([
      {
        level: 'warning',
        message: `target adh on 80, 81 leaves out series, 2 so far, ${why}`,
        about,
      },
    ]);
    expect(look([clashes(4)])).to.deep.equal([]);
    expect(look([clashes(4)])).to.deep.equal([
      {
        level: 'info',
        message: `target adh on 80, 81 no longer leaves out series; it left out 4, ${why}`,
        about,
      },
    ]);
    expect(look([clashes(4)])).to.deep.equal([]);
    expect(look([clashes(5)]).map(({ level }) => level)).to.deep.equal(['warning']);
  });

  it('reports each target and each kind of omission separately', () => {
    const [one, other] = [new FakeTarget('ads', ['1']), new FakeTarget('ads', ['2'])];
    other.metrics = [dropped(1)];
    const { look } = watching(one, other);
    expect(look([clashes(1)]).map(({ message }) => message.slice(0, 28))).to.deep.equal([
      'target ads on 1 leaves out s',
      'target ads on 2 is missing 1',
    ]);
    expect(look([clashes(1), dropped(1)]).map(({ message }) => message.slice(0, 28))).to.deep.equal(
      ['target ads on 1 no longer le', 'target ads on 1 is missing 1'],
    );
  });

  it('reads each target once per check, and no target after unsubscription', () => {
    const target = new FakeTarget();
    let asked = 0;
    target.internal = () => {
      asked++;
      return [];
    };
    const { look, subscription } = watching(target);
    look();
    look();
    subscription.unsubscribe();
    look();
    expect(asked).to.equal(2);
  });
});

// The log reports targets that take long to become ready.
describe('the log of waiting targets', () => {
  const watching = (...targets: FakeTarget[]) => {
    const clock = new VirtualClock();
    const { seen } = follow(watchReadiness({ targets }, clock));
    return (seconds: number): readonly string[] => {
      const before = seen.length;
      clock.advance(seconds * 1000);
      return seen.slice(before).map(({ level, message }) => `${level} ${message}`);
    };
  };
  const lose = (target: FakeTarget, reason: string) => target.wait({ ...target.progress, reason });
  const waiting = (reason: string) => lose(new FakeTarget(), reason);

  it('reports after ten seconds what a target waits for, and later that the target is ready, each once', () => {
    const target = waiting('variable mood of H.1.ads');
    const pass = watching(target);
    expect(pass(5)).to.deep.equal([]);
    expect(pass(5)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on variable mood of H.1.ads',
    ]);
    expect(pass(60), 'no line for each look').to.deep.equal([]);
    target.isReady = true;
    expect(pass(5)).to.deep.equal(['info target ads on 82 became ready after 75 s']);
    expect(pass(60)).to.deep.equal([]);
  });

  it('suggests how to list the existing publishers if a target has no publisher', () => {
    const target = waiting('no segment shmApp.pool.82 in shared memory');
    target.publisher = { state: 'absent', reason: '' };
    expect(watching(target)(10)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on no segment shmApp.pool.82 in shared memory; --check-config --live lists the existing publishers',
    ]);
  });

  it('reports nothing for a target that is ready within ten seconds', () => {
    const target = waiting('root');
    const pass = watching(target);
    expect(pass(5)).to.deep.equal([]);
    target.isReady = true;
    expect(pass(60)).to.deep.equal([]);
  });

  it('counts only the time since a target was last lost', () => {
    const target = new FakeTarget();
    const pass = watching(target);
    pass(24);
    lose(target, 'a');
    expect(pass(10.5), 'lost for 10.5 s').to.deep.equal([]);
    expect(pass(2)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on a',
    ]);
    target.isReady = true;
    pass(5);
    pass(3);
    lose(target, 'b');
    expect(pass(9.5), 'lost for 9.5 s').to.deep.equal([]);
  });

  it('reports a target once for each time that it is lost', () => {
    const [one, other] = [waiting('a'), new FakeTarget('adh', ['80'])];
    const pass = watching(one, other);
    expect(pass(10)).to.have.length(1);
    one.isReady = true;
    lose(other, 'b');
    expect(pass(5)).to.deep.equal(['info target ads on 82 became ready after 15 s']);
    expect(pass(10)).to.deep.equal([
      'warning target adh on 80 has not been ready for 10 s: waiting on b',
    ]);
    lose(one, 'c');
    expect(pass(15)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on c',
    ]);
  });
});

// systemd shows this line in `systemctl status`.
describe('the status line for systemd', () => {
  it(
    'shows the number of ready targets at the start and after each change',
    marbles(({ cold, expectObservable }) => {
      const target = new FakeTarget();
      target.isReady = false;
      const targets = [new FakeTarget(), target];
      const becomesReady$ = cold('12s x').pipe(tap(() => (target.isReady = true)));
      expectObservable(becomesReady$, '30s !').toBe('12s x');
      expectObservable(statusLine({ targets }), '30s !').toBe('a 14999ms b', {
        a: '1 of 2 targets ready',
        b: '2 of 2 targets ready',
      });
    }),
  );
});

// The log reports when a sink begins to skip snapshots, each new reason, and when it writes snapshots again.
const served: SinkEvent = { kind: 'served', bytes: 7, outcome: 'delivered' };
const skipped = (reason: string): SinkEvent => ({ kind: 'skipped', reason });

/** Returns the lines that are logged for some events. */
function linesFor(...events: readonly SinkEvent[]): string[] {
  const lines: string[] = [];
  const tell = sinkLog(({ message }) => lines.push(message));
  for (const event of events) tell(event);
  return lines;
}

describe('the log of a sink', () => {
  it('reports the first skipped snapshot, and the end of skipping', () =>
    expect(linesFor(served, skipped('full'), skipped('full'), served, served)).to.deep.equal([
      'full: skipping snapshots',
      'serving again: skipped 2 snapshots',
    ]));

  it('reports each reason for skipping once, even if two reasons alternate', () =>
    expect(linesFor(...['slow', 'full', 'slow', 'full'].map(skipped), served)).to.deep.equal([
      'slow: skipping snapshots',
      'full: skipping snapshots',
      'serving again: skipped 4 snapshots',
    ]));

  it('reports a reason again after snapshots were written', () =>
    expect(linesFor(skipped('full'), served, skipped('full'))).to.deep.equal([
      'full: skipping snapshots',
      'serving again: skipped 1 snapshots',
      'full: skipping snapshots',
    ]));

  it('reports at most eight reasons', () => {
    const reasons = Array.from({ length: 20 }, (_, nth) => skipped(`reason ${nth}`));
    expect(linesFor(...reasons)).to.have.length(8);
  });
});

describe('the log of refused connections', () => {
  const CALM_MS = 300_000;
  const refused = (address: string, reason = 'no certificate'): SinkEvent => ({
    ...{ kind: 'refused', address, reason },
  });
  const watching = () => {
    const clock = new VirtualClock();
    const event$ = new Subject<SinkEvent>();
    const { seen, subscription } = follow(watchRefusals(event$, clock));
    let shown = 0;
    const lines = () => {
      const since = seen.slice(shown);
      shown = seen.length;
      return since.map(({ level, message }) => `${level} ${message}`);
    };
    return { clock, event$, lines, subscription };
  };

  it('reports the first refusal of an address, and later that five minutes passed without a refusal', () => {
    const { clock, event$, lines } = watching();
    for (const event of [refused('::1'), served, refused('::1')]) event$.next(event);
    expect(lines()).to.deep.equal(['warning refuses connections from ::1: no certificate']);
    clock.advance(CALM_MS - 1);
    event$.next(refused('::1'));
    clock.advance(CALM_MS - 1);
    expect(lines()).to.deep.equal([]);
    clock.advance(1);
    expect(lines()).to.deep.equal([
      'info has refused no connection for 5 minutes, after 3 refusals from ::1: no certificate',
    ]);
    event$.next(refused('::1'));
    expect(lines()).to.deep.equal(['warning refuses connections from ::1: no certificate']);
  });

  it('reports each address and each reason', () => {
    const { event$, lines } = watching();
    for (const event of [refused('a'), refused('b'), refused('a', 'expired'), refused('a')])
      event$.next(event);
    expect(lines()).to.have.length(3);
  });

  it('reports at most sixteen addresses at a time', () => {
    const { clock, event$, lines } = watching();
    for (let address = 0; address < 40; address++) event$.next(refused(String(address)));
    expect(lines()).to.have.length(16);
    clock.advance(CALM_MS);
    expect(lines()).to.have.length(16);
    event$.next(refused('40'));
    expect(lines()).to.have.length(1);
  });

  it('fails if the sink fails, and unsubscribes from the sink', () => {
    const failing = watching();
    const failure = new Error('sink');
    const errors: unknown[] = [];
    const event$ = new Subject<SinkEvent>();
    watchRefusals(event$, failing.clock).subscribe({ error: (each: unknown) => errors.push(each) });
    event$.next(refused('a'));
    event$.error(failure);
    expect(errors).to.deep.equal([failure]);
    failing.event$.next(refused('a'));
    failing.subscription.unsubscribe();
    expect(failing.event$.observed).to.equal(false);
    failing.clock.advance(CALM_MS);
    expect(failing.lines()).to.have.length(1);
  });
});
