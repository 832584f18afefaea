// Tests the stdout printer: ticks, and readers that are slow or disappear. Spec 1.4.
import { expect } from 'chai';
import {
  EMPTY,
  NEVER,
  catchError,
  defer,
  lastValueFrom,
  map,
  of,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { Fault } from '#app/errors.js';
import { stdoutSink } from '#app/sinks/stdout/stdout.js';
import { BrokenPipe, NotWritten } from '#app/stdio/print.js';
import type { DocumentWriter, Documents } from '#app/sinks/stdout/stdout.js';
import { FakeTarget } from '../../support/fake-target.js';
import { marbles } from '../../support/marbles.js';

type EachDocument = Extract<Documents, { readonly kind: 'each' }>['document'];

/** A document that shows the target's application, the time in milliseconds and a metric of the sink. */
const document: EachDocument = ({ status }, time, [skipped]) => {
  const text = Buffer.from(`${status.app}@${time.getTime()} skipped ${skipped?.value}`);
  return { buffers: [text], release: () => undefined };
};
const SLOW = 'the reader is too slow';
const events = {
  s: { kind: 'served', bytes: 7, outcome: 'delivered' },
  k: { kind: 'skipped', reason: SLOW },
};
/** Ticks every 5 ms of virtual time. */
const printing = (write: DocumentWriter, targets: readonly FakeTarget[] = [new FakeTarget()]) =>
  stdoutSink({
    ...{ intervalSeconds: 0.005, isOnce: false, write, slow: SLOW },
    documents: { kind: 'each', document },
  })({ targets });

describe('stdoutSink', () => {
  const atOnce: DocumentWriter = () => of(7);

  it(
    'prints at each tick, first after one interval',
    marbles(({ expectObservable }) => {
      const leaves = '  ----------------!';
      const printed = ' -----s----s----s-';

      expectObservable(printing(atOnce), leaves).toBe(printed, events);
    }),
  );

  it(
    'prints all targets at a tick, in order, with the time of the tick',
    marbles(({ expectObservable }) => {
      const written: string[] = [];
      const write: DocumentWriter = ({ buffers }) =>
        of(7).pipe(tap(() => written.push(Buffer.concat([...buffers]).toString())));
      const targets = [new FakeTarget('b'), new FakeTarget('a')];
      const seen$ = printing(write, targets).pipe(map(() => written.join(' ')));

      const [b, a] = ['b@5 skipped 0', 'a@5 skipped 0'];
      expectObservable(seen$, '------!').toBe('-----(xy)', { x: b, y: `${b} ${a}` });
    }),
  );

  it(
    'skips ticks until the reader has taken the last documents, and reports the skipped ticks',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const taken$ = cold('-------(x|)', { x: 7 });
      //                           -------x  the reader takes the document 7 ms after its tick
      //                                     -------x
      const leaves = '        -----------------------!';
      const printed = '       ----------k-s-------k-s-';

      expectObservable(
        printing(() => taken$),
        leaves,
      ).toBe(printed, events);
      expectSubscriptions(taken$.subscriptions).toBe([
        '-----^------!           ',
        '---------------^------! ',
      ]);
    }),
  );

  it(
    'starts no document while the document of another target waits for the reader',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const taken$ = cold('--(x|)', { x: 7 });
      const printed = '              -------s-s-'; // each takes 2 ms, one after the other
      const targets = [new FakeTarget('a'), new FakeTarget('b')];

      expectObservable(
        printing(() => taken$, targets),
        '----------!',
      ).toBe(printed, events);
      expectSubscriptions(taken$.subscriptions).toBe(['-----^-!', '-------^-!']);
    }),
  );

  it(
    'ends quietly when its reader is gone',
    marbles(({ expectObservable }) => {
      const gone: DocumentWriter = () => throwError(() => new BrokenPipe());
      expectObservable(printing(gone)).toBe('-----|');
    }),
  );

  it(
    'fails with any write error except a broken pipe',
    marbles(({ expectObservable }) => {
      const full: DocumentWriter = () => throwError(() => new Error('no space'));
      expectObservable(printing(full)).toBe('-----#', undefined, new Error('no space'));
    }),
  );

  it('requests no render between ticks or after unsubscription', () => {
    const target = new FakeTarget();
    marbles(({ expectObservable }) => {
      expectObservable(printing(atOnce, [target]), '------------!').toBe('-----s----s--', events);
    })();
    expect(target.demands).to.equal(2);
  });

  it('skips ticks, without a render, while the reader is stopped', () => {
    const target = new FakeTarget();
    marbles(({ expectObservable }) => {
      const never: DocumentWriter = () => NEVER;
      expectObservable(printing(never, [target]), '-----------------!').toBe(
        '----------k----k--',
        events,
      );
    })();
    expect(target.demands).to.equal(1);
  });

  it(
    'reports a document that it cannot write, and continues with the next document',
    marbles(({ expectObservable }) => {
      const full: DocumentWriter = () => throwError(() => new NotWritten('no space'));
      const event = { k: { kind: 'skipped', reason: 'no space' } };
      expectObservable(printing(full), '-----------!').toBe('-----k----k-', event);
    }),
  );
});

describe('stdoutSink for one snapshot', () => {
  const once = (
    targets: readonly FakeTarget[],
    intervalSeconds: number,
    write: DocumentWriter = () => of(7),
  ) =>
    stdoutSink({
      ...{ intervalSeconds, isOnce: true, write, slow: SLOW },
      documents: { kind: 'each', document },
    })({ targets });
  const nothing = { synced: 0, total: 1 };
  const unready = () =>
    new FakeTarget().wait({ ...{ objects: nothing, variables: nothing }, reason: 'object x' });

  it(
    'fails if it cannot write the document',
    marbles(({ expectObservable }) => {
      const full: DocumentWriter = () => throwError(() => new NotWritten('no space'));
      const fault = new Fault('NOT_WRITTEN', 'no space');
      expectObservable(once([new FakeTarget()], 10, full)).toBe('#', undefined, fault);
    }),
  );

  it(
    'prints immediately if all targets are ready, and completes',
    marbles(({ expectObservable }) => {
      expectObservable(once([new FakeTarget(), new FakeTarget()], 10)).toBe('(ss|)', events);
    }),
  );

  it(
    'waits until all targets are ready, and checks this every 50 ms',
    marbles(({ cold, expectObservable }) => {
      const target = unready();
      const becomesReady$ = cold('120ms x').pipe(tap(() => (target.isReady = true)));
      expectObservable(becomesReady$).toBe('120ms x');
      expectObservable(once([target], 10)).toBe('150ms (s|)', events);
    }),
  );

  it(
    'prints the ready targets after one interval, and fails with exit status 5 if others are not ready',
    marbles(({ expectObservable }) => {
      const why = once([new FakeTarget(), unready()], 0.2).pipe(
        catchError((fault: unknown) =>
          of(fault instanceof Fault && `${fault.exit} ${fault.message}`),
        ),
      );
      const wanted = { ...events, f: '5 not all targets were ready: waiting on object x' };
      expectObservable(why).toBe('200ms (ssf|)', wanted);
    }),
  );

  it('renders each target once', () => {
    const target = unready();
    marbles(({ expectObservable }) => {
      expectObservable(once([target], 0.2).pipe(catchError(() => EMPTY))).toBe(
        '200ms (s|)',
        events,
      );
    })();
    expect(target.demands).to.equal(1);
  });
});

describe('stdoutSink with merged documents', () => {
  const all = <T>(values$: Observable<T>): Promise<T[]> =>
    lastValueFrom(values$.pipe(toArray()), { defaultValue: [] });
  type Merge = Extract<Documents, { readonly kind: 'merged' }>['merge'];
  const printed = (targets: readonly FakeTarget[], merge: Merge, write: DocumentWriter) =>
    stdoutSink({
      ...{ intervalSeconds: 10, isOnce: true, write, slow: SLOW },
      documents: { kind: 'merged', merge },
    })({ targets });
  const apps: Merge = (answers) => {
    const releases = answers.map(({ snapshot }) => snapshot.hold());
    const release = () => releases.forEach((each) => each());
    return { buffers: [Buffer.from(answers.map(({ status }) => status.app).join(' '))], release };
  };

  it('writes one document for all targets, and holds their pages until the document is written', async () => {
    const targets = [new FakeTarget('a'), new FakeTarget('b')];
    const held = () => targets.map((target) => target.held);
    const written: unknown[] = [];
    const write: DocumentWriter = ({ buffers, release }) =>
      defer(() => {
        written.push(Buffer.concat([...buffers]).toString(), held());
        release();
        return of(7);
      });
    await all(printed(targets, apps, write));
    expect(written).to.deep.equal(['a b', [1, 1]]);
    expect(held()).to.deep.equal([0, 0]);
  });

  it('releases all pages if the document cannot be merged', async () => {
    const targets = [new FakeTarget('a')];
    const fails: Merge = () => {
      throw new Error('why');
    };
    const end$ = printed(targets, fails, () => of(7)).pipe(
      catchError((error: unknown) => of(error)),
    );
    expect(String(await all(end$))).to.equal('Error: why');
    expect(targets.map((target) => target.held)).to.deep.equal([0]);
  });
});
