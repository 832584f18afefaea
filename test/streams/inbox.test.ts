// Turns of a target: what each takes in, and when.
import { expect } from 'chai';
import { Subject, asyncScheduler, merge, takeUntil } from 'rxjs';
import type { StructureChange } from '#app/model.js';
import { inTurn, unbound$ } from '#app/streams/inbox.js';
import type { TargetInput, TurnParts } from '#app/streams/inbox.js';
import { RefreshQueue } from '#app/streams/refresh-queue.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { follow } from '../support/follow.js';
import { marbles } from '../support/marbles.js';
import { root, pollResult } from '../support/poll-results.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (changes: readonly StructureChange[], number: number): TargetInput => ({
  kind: 'change',
  pollResult: pollResult({ changes }),
  number,
});
const inputs = {
  b: { kind: 'bind' },
  c: change([added], 1),
  d: change([added], 2),
  R: { kind: 'refresh', mayRender: true },
} satisfies Record<string, TargetInput>;
/** `X` for a change that is two. */
const letter = (input: TargetInput): string => {
  if (input.kind === 'change') return input.pollResult.changes.length === 2 ? 'X' : 'c';
  return input.kind === 'bind' ? 'b' : 'R';
};

/** Turns of the event loop take `pauseMs`; if it is divided, a slice is a step. */
function queueIn(pauseMs: number, isDivided = false): RefreshQueue {
  let reads = 0;
  const now = () => asyncScheduler.now();
  const tasks = new Scheduler(
    () => now() + (isDivided ? reads++ : 0),
    (next) => void asyncScheduler.schedule(next, pauseMs),
  );
  return new RefreshQueue(tasks, now);
}

/** Takes an input in within two steps. */
const parts = (given: Partial<TurnParts<string>> = {}): TurnParts<string> => ({
  *takeIn(input) {
    yield;
    return letter(input);
  },
  look: () => undefined,
  isEarly: () => false,
  took: () => undefined,
  ...given,
});

describe('inTurn', () => {
  it(
    'takes in all that waits in one turn: structure first, then the refresh',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('      ----|           ');
      const input$ = hot('      -R-c--bR-------|', inputs);
      const taken = '           -----(cR)-(bR)-|';
      const subscribed = '      ^--------------!';

      expectObservable(input$.pipe(inTurn(queueIn(pause), parts()))).toBe(taken);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'merges changes that wait: the later one, with the structure of both',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ----|      ');
      const input$ = hot('      -bcd------|', inputs);
      const taken = '           -----(bX)-|';

      expectObservable(input$.pipe(inTurn(queueIn(pause), parts()))).toBe(taken);
    }),
  );

  it(
    'begins the next turn once the last one is over, however many slices that took',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|          ');
      const input$ = hot('      -c--R---------', inputs);
      const taken = '           -----c-----R--';

      expectObservable(input$.pipe(inTurn(queueIn(pause, true), parts()))).toBe(taken);
    }),
  );

  it(
    'lets a refresh that is early look again, and takes in what each look shows',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ---|      ');
      const refresh$ = hot('    -R--------', inputs);
      const taken = '           ----(cccR)';
      const shown$ = new Subject<TargetInput>();
      let looks = 0;
      const look = (): void => {
        looks++;
        shown$.next(inputs.c);
      };
      const taken$ = merge(refresh$, shown$).pipe(
        inTurn(queueIn(pause), parts({ look, isEarly: () => looks < 3 })),
      );
      expectObservable(taken$).toBe(taken);
    }),
  );

  it(
    'takes in a refresh that is early for a second',
    marbles(({ hot, expectObservable }) => {
      const refresh$ = hot('R-', inputs);
      const taken$ = refresh$.pipe(inTurn(queueIn(400, true), parts({ isEarly: () => true })));
      expectObservable(taken$).toBe('2s R');
    }),
  );

  it(
    'takes in nothing for a consumer that left when it looked',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('      ---|    ');
      const input$ = hot('      -Rc-----', inputs);
      const taken = '           ----|   ';
      const subscribed = '      ^---!   ';
      const lost$ = new Subject<void>();
      const taken$ = input$.pipe(
        inTurn(queueIn(pause), parts({ look: () => lost$.next() })),
        takeUntil(lost$),
      );
      expectObservable(taken$).toBe(taken);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'passes an error on',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|   ');
      const input$ = hot('      -c-#  ', inputs);
      const failing = parts({
        takeIn: () => {
          throw new Error('torn');
        },
      });
      expectObservable(input$.pipe(inTurn(queueIn(9), parts()))).toBe('---#');
      const failed$ = hot('     -c----', inputs).pipe(inTurn(queueIn(pause), failing));
      expectObservable(failed$).toBe('---#', undefined, new Error('torn'));
    }),
  );
});

describe('unbound$', () => {
  it('emits at once and whenever there is more, until its consumer leaves', () => {
    let wake: (() => void) | undefined;
    const bind$ = unbound$((more) => {
      wake = more;
      return () => (wake = undefined);
    });
    const { seen, subscription } = follow(bind$);
    wake?.();
    expect(seen.map(letter)).to.deep.equal(['b', 'b']);
    subscription.unsubscribe();
    expect(wake).to.equal(undefined);
  });
});
