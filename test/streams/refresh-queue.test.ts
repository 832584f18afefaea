// One refresh at a time in a queue. Spec 1.10.
import { expect } from 'chai';
import { Subject, asyncScheduler, map, merge, of, tap } from 'rxjs';
import { RefreshQueue, inTurn } from '#app/streams/refresh-queue.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';

/** A partition that gives way to others for `pauseMs` of virtual time. */
const queueIn = (pauseMs: number): RefreshQueue =>
  new RefreshQueue(
    () => asyncScheduler.now(),
    (next) => void asyncScheduler.schedule(next, pauseMs),
  );
const unheard = (): void => undefined;

/** So many slices that an event leaves for further turns. */
class Slices {
  left = 0;

  get isOpen(): boolean {
    return this.left > 0;
  }

  goOn(): void {
    this.left--;
  }
}

describe('inTurn', () => {
  it(
    'does one refresh at a time and lets others have their turn in between',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('    --|           ');
      const one$ = hot('      -a-----(bc)-|');
      const two$ = hot('      -x-----y----|');
      const one = '           -a-----b-c--|';
      const two = '           ---x-------y|';
      const subscribed = '    ^-----------!';
      const queue = queueIn(pause);

      expectObservable(one$.pipe(inTurn(queue, unheard))).toBe(one);
      expectObservable(two$.pipe(inTurn(queue, unheard))).toBe(two);
      expectSubscriptions(one$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'completes when its last event had its turn',
    marbles(({ hot, expectObservable }) => {
      const queue = queueIn(3);
      const event$ = hot('-(ab|)    ');
      expectObservable(event$.pipe(inTurn(queue, unheard))).toBe('-a--(b|)');
    }),
  );

  it(
    'passes an error on without waiting for a turn',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('    ---------|  ');
      const event$ = hot('    -(ab)#      ');
      const turns = '         -a---#      ';
      const subscribed = '    ^----!      ';

      expectObservable(event$.pipe(inTurn(queueIn(pause), unheard))).toBe(turns);
      expectSubscriptions(event$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'does nothing in the turn of a consumer that left',
    marbles(({ hot, time, flush, expectObservable, expectSubscriptions }) => {
      const pause = time('    --|     ');
      const gone$ = hot('     -(ab)---');
      const other$ = hot('    -x------');
      const leaves = '        ^-!     ';
      const gone = '          -a------';
      const other = '         -----x--';
      const queue = queueIn(pause);

      expectObservable(gone$.pipe(inTurn(queue, unheard)), leaves).toBe(gone);
      expectObservable(other$.pipe(inTurn(queue, unheard))).toBe(other);
      expectSubscriptions(gone$.subscriptions).toBe(leaves);
      flush();
      expect(queue.waits.count).to.equal(2);
    }),
  );

  it(
    'merges what waits with what comes, where that is allowed, and never what has its turn',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    ----|        ');
      const event$ = hot('    -abcX-Yde----');
      const turns = '         -a---b---X---Y---c';
      const both = (first: string, next: string) =>
        first !== first.toUpperCase() && next !== next.toUpperCase() ? first : undefined;
      const merging$ = event$.pipe(inTurn(queueIn(pause), unheard, { merged: both }));
      expectObservable(merging$).toBe(turns, { a: 'a', b: 'b', X: 'X', Y: 'Y', c: 'd' });

      const mixed$ = hot('    -aXbYcd------');
      const past$ = mixed$.pipe(inTurn(queueIn(pause), unheard, { merged: both }));
      expectObservable(past$).toBe('-a---X---b---Y');
    }),
  );

  it(
    'passes on in one turn what waits and precedes the event, prepared by then',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ----|');
      const event$ = hot('      -XYa------b---');
      const turns = '           -X---(acY)b---';
      const brought$ = new Subject<string>();
      const prepare = (event: string): void => {
        if (event === 'Y') brought$.next('c');
      };
      const precedes = (waiting: string, event: string): boolean =>
        waiting === waiting.toLowerCase() && event === 'Y';
      const inTurn$ = merge(event$, brought$).pipe(
        inTurn(queueIn(pause), unheard, { prepare, precedes }),
      );
      expectObservable(inTurn$).toBe(turns);
    }),
  );

  it(
    'does what somebody waits for beside all else: at once, and then one after the other',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    ---|        ');
      const one$ = hot('      -a----------');
      const two$ = hot('      -b----------');
      const three$ = hot('    -c----------');
      const asked$ = hot('    --uvw-------');
      const one = '           -a----------';
      const asked = '         --u--v--w---';
      const two = '           ----b-------';
      const three = '         -------c----';
      const queue = queueIn(pause);

      expectObservable(one$.pipe(inTurn(queue, unheard))).toBe(one);
      expectObservable(two$.pipe(inTurn(queue, unheard))).toBe(two);
      expectObservable(three$.pipe(inTurn(queue, unheard))).toBe(three);
      const isUrgent = () => true;
      expectObservable(asked$.pipe(inTurn(queue, unheard, { isUrgent }))).toBe(asked);
    }),
  );

  it(
    'never begins one refresh in the middle of another, though somebody waits for it',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    --|   ');
      const one$ = hot('      -(ab)-');
      const one = '           -a-b--';
      const asked = '         ---u--';
      const queue = queueIn(pause);
      const asked$ = new Subject<string>();
      const isUrgent = () => true;
      const asking$ = one$.pipe(
        inTurn(queue, unheard),
        tap((event) => {
          if (event === 'a') asked$.next('u');
        }),
      );
      expectObservable(asked$.pipe(inTurn(queue, unheard, { isUrgent }))).toBe(asked);
      expectObservable(asking$).toBe(one);
    }),
  );

  it(
    'gives four slices of what somebody waits for turns before all else, and no more',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    --|                   ');
      const asked$ = hot('    -(ab)-----------------');
      const other$ = hot('    --------x-------------');
      // The first event has seven slices: at 1, 3, 5 and 7, and with the others at 9, 13 and 15.
      const asked = '         -a---------------b----';
      const other = '         -----------x----------';
      const queue = queueIn(pause);
      const isUrgent = () => true;
      const rest = new Slices();
      const sliced$ = asked$.pipe(
        inTurn(queue, unheard, { rest, isUrgent }),
        tap((event) => (rest.left = event === 'a' ? 6 : 0)),
      );
      expectObservable(sliced$).toBe(asked);
      expectObservable(other$.pipe(inTurn(queue, unheard))).toBe(other);
    }),
  );

  it(
    'gives what is early another turn, behind those that wait, and passes on what precedes it',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    --|           ');
      const early$ = hot('    -Rab----------');
      const other$ = hot('    -x-y-z--------');
      // Early for its first two turns; what came meanwhile is passed on in the third.
      const early = '         ---a---(bR)---';
      const other = '         -----x---y-z--';
      const queue = queueIn(pause);
      let turns = 0;
      const isEarly = (event: string) => event === 'R' && ++turns < 3;
      const precedes = (waiting: string, event: string) =>
        event === 'R' && waiting === 'ab'[turns - 1];

      expectObservable(early$.pipe(inTurn(queue, unheard, { isEarly, precedes }))).toBe(early);
      expectObservable(other$.pipe(inTurn(queue, unheard))).toBe(other);
    }),
  );

  it(
    'gives what is early its next turns with all else, though somebody waits for it',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    --|       ');
      const other$ = hot('    -xy-------');
      const early$ = hot('    --R-------');
      const early = '         -----R----';
      const other = '         -x-y------';
      const queue = queueIn(pause);
      let turns = 0;
      const isEarly = () => ++turns === 1;
      const isUrgent = () => true;
      expectObservable(other$.pipe(inTurn(queue, unheard))).toBe(other);
      expectObservable(early$.pipe(inTurn(queue, unheard, { isEarly, isUrgent }))).toBe(early);
    }),
  );

  it(
    'measures how long an event waits from its arrival on',
    marbles(({ hot, time, flush }) => {
      const pause = time('    ----|    ');
      const event$ = hot('    -(abc)---');
      const queue = queueIn(pause);
      event$.pipe(inTurn(queue, unheard)).subscribe();
      flush();
      expect(queue.waits).to.deep.include({ count: 3, sum: 12 });
    }),
  );

  it(
    'takes a source that has everything at once',
    marbles(({ expectObservable }) => {
      const queue = queueIn(2);
      expectObservable(of('a', 'b', 'c').pipe(inTurn(queue, unheard))).toBe('a-b-(c|)');
    }),
  );

  it(
    'goes on for the others after a refresh that failed',
    marbles(({ hot, expectObservable }) => {
      const queue = queueIn(2);
      const failing$ = hot('  -a--');
      const other$ = hot('    -x--');
      const failed$ = failing$.pipe(
        inTurn(queue, unheard),
        map((): string => {
          throw new Error('torn');
        }),
      );

      expectObservable(failed$).toBe('-#', undefined, new Error('torn'));
      expectObservable(other$.pipe(inTurn(queue, unheard))).toBe('---x');
    }),
  );

  it(
    'does what an event leaves in further turns, between those of others, and passes on the next after it',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('    --|                ');
      const one$ = hot('      -(ab)-----------|  ');
      const two$ = hot('      -(xy)-----------|  ');
      // Each event of the first has three slices.
      const one = '           -a---------b----|  ';
      const two = '           -----x---y------|  ';
      const queue = queueIn(pause);
      const rest = new Slices();
      const counted$ = one$.pipe(
        inTurn(queue, unheard, { rest }),
        tap(() => (rest.left = 2)),
      );
      expectObservable(counted$).toBe(one);
      expectObservable(two$.pipe(inTurn(queue, unheard))).toBe(two);
    }),
  );

  it('tells how long each refresh took, what follows it included', () => {
    let nowMs = 0;
    const took: number[] = [];
    const queue = new RefreshQueue(
      () => nowMs,
      (next) => {
        nowMs += 100; // the others' turn
        next();
      },
    );
    of(5, 7)
      .pipe(
        inTurn(queue, (ms) => took.push(ms)),
        tap((ms) => (nowMs += ms)),
      )
      .subscribe();
    expect(took).to.deep.equal([5, 7]);
  });
});

describe('RefreshQueue', () => {
  it('divides the time of its refreshes by the time in which it had none', () => {
    let nowMs = 1000;
    const queue = new RefreshQueue(() => nowMs);
    expect(queue.busyIdleRatio).to.equal(0);
    nowMs += 30;
    follow(queue.turn(unheard).pipe(tap(() => (nowMs += 10))));
    expect(queue.busyIdleRatio).to.equal(10 / 30);
  });
});
