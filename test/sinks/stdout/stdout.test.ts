// The stdout printer: ticks, slow readers, readers that go. Spec 1.4, design 3 "Stdout".
import { expect } from 'chai';
import { NEVER, map, of, tap, throwError } from 'rxjs';
import { ReaderGone, stdoutSink } from '#app/sinks/stdout/stdout.js';
import type { DocumentWriter, StdoutOptions } from '#app/sinks/stdout/stdout.js';
import { FakeTarget } from '../../support/fake-target.js';
import { marbles } from '../../support/marbles.js';

/** A document with the app of the target, the milliseconds of the time and the metrics of the sink. */
const document: StdoutOptions['document'] = ({ status }, time, [skipped]) => {
  const text = Buffer.from(`${status.app}@${time.getTime()} skipped ${skipped?.value}`);
  return { pieces: [text], release: () => undefined };
};
const events = {
  s: { kind: 'served', bytes: 7, outcome: 'delivered' },
  k: { kind: 'skipped', reason: 'the reader of stdout is too slow' },
};
/** Ticks every 5 ms of virtual time. */
const printing = (write: DocumentWriter, targets: readonly FakeTarget[] = [new FakeTarget()]) =>
  stdoutSink({ intervalSeconds: 0.005, document, write })({ targets });

describe('stdoutSink', () => {
  const atOnce: DocumentWriter = () => of(7);

  it(
    'prints at each tick, the first one after an interval',
    marbles(({ expectObservable }) => {
      const leaves = '  ----------------!';
      const printed = ' -----s----s----s-';

      expectObservable(printing(atOnce), leaves).toBe(printed, events);
    }),
  );

  it(
    'prints all targets at a tick, in order, with the time of that tick',
    marbles(({ expectObservable }) => {
      const written: string[] = [];
      const write: DocumentWriter = ({ pieces }) =>
        of(7).pipe(tap(() => written.push(Buffer.concat([...pieces]).toString())));
      const targets = [new FakeTarget('b'), new FakeTarget('a')];
      const seen$ = printing(write, targets).pipe(map(() => written.join(' ')));

      const [b, a] = ['b@5 skipped 0', 'a@5 skipped 0'];
      expectObservable(seen$, '------!').toBe('-----(xy)', { x: b, y: `${b} ${a}` });
    }),
  );

  it(
    'skips ticks while the reader has not taken the last documents, and tells of them',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const taken$ = cold('-------(x|)', { x: 7 });
      //                           -------x  taken 7 ms after its tick
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
    'starts no document while another target waits for the reader',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const taken$ = cold('--(x|)', { x: 7 });
      const printed = '              -------s-s-'; // 2 ms each, one after the other
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
      const gone: DocumentWriter = () => throwError(() => new ReaderGone());
      expectObservable(printing(gone)).toBe('-----|');
    }),
  );

  it(
    'ends with any other failure to write',
    marbles(({ expectObservable }) => {
      const full: DocumentWriter = () => throwError(() => new Error('no space'));
      expectObservable(printing(full)).toBe('-----#', undefined, new Error('no space'));
    }),
  );

  it('makes no demand between ticks, and none once it is left', () => {
    const target = new FakeTarget();
    marbles(({ expectObservable }) => {
      expectObservable(printing(atOnce, [target]), '------------!').toBe('-----s----s--', events);
    })();
    expect(target.demands).to.equal(2);
  });

  it('skips on while a reader never takes anything, without a demand', () => {
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
});
