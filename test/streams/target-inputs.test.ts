// processInputs: the tasks of a target, and the inputs that each task processes.
import { Subject, asyncScheduler, merge, takeUntil } from 'rxjs';
import type { StructureChange } from '#app/model.js';
import { processInputs } from '#app/streams/target-inputs.js';
import type { TargetInput, InputProcessing } from '#app/streams/target-inputs.js';
import { TaskQueue } from '#app/streams/task-queue.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { marbles } from '../support/marbles.js';
import { root, pollResult } from '../support/poll-results.js';

const added: StructureChange = { kind: 'object-added', object: root('H.1.ads') };
const change = (changes: readonly StructureChange[], number: number): TargetInput => ({
  kind: 'poll',
  pollResult: pollResult({ changes }),
  number,
});
const inputs = {
  b: { kind: 'bind' },
  c: change([added], 1),
  d: change([added], 2),
  R: { kind: 'refresh', mayRender: true },
} satisfies Record<string, TargetInput>;
/** The letter of an input; `X` for two merged changes. */
const letter = (input: TargetInput): string => {
  if (input.kind === 'poll') return input.pollResult.changes.length === 2 ? 'X' : 'c';
  return input.kind === 'bind' ? 'b' : 'R';
};

/** A queue with `pauseMs` between event-loop iterations; if divided, with one step per slice. */
function queueIn(pauseMs: number, isDivided = false): TaskQueue {
  let reads = 0;
  const now = () => asyncScheduler.now();
  const tasks = new Scheduler(
    () => now() + (isDivided ? reads++ : 0),
    (next) => void asyncScheduler.schedule(next, pauseMs),
  );
  return new TaskQueue(tasks, now);
}

/** Processes an input in two steps. */
const parts = (given: Partial<InputProcessing<string>> = {}): InputProcessing<string> => ({
  *process(input) {
    yield;
    return letter(input);
  },
  poll: () => undefined,
  isPageIncomplete: () => false,
  onTaskEnd: () => undefined,
  ...given,
});

describe('the input processor', () => {
  it(
    'processes all pending inputs in one task: structure first, then the refresh',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('      ----|           ');
      const input$ = hot('      -R-c--bR-------|', inputs);
      const taken = '           -----(cR)-(bR)-|';
      const subscribed = '      ^--------------!';

      expectObservable(input$.pipe(processInputs(queueIn(pause), parts()))).toBe(taken);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'merges waiting changes into the later change, with the structure of both changes',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ----|      ');
      const input$ = hot('      -bcd------|', inputs);
      const taken = '           -----(bX)-|';

      expectObservable(input$.pipe(processInputs(queueIn(pause), parts()))).toBe(taken);
    }),
  );

  it(
    'starts the next task after the last slice of the previous one',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|          ');
      const input$ = hot('      -c--R---------', inputs);
      const taken = '           -----c-----R--';

      expectObservable(input$.pipe(processInputs(queueIn(pause, true), parts()))).toBe(taken);
    }),
  );

  it(
    'polls again for a refresh that would be partial, and processes the change of each poll',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      ---|      ');
      const refresh$ = hot('    -R--------', inputs);
      const taken = '           ----(cccR)';
      const shown$ = new Subject<TargetInput>();
      let polls = 0;
      const poll = (): void => {
        polls++;
        shown$.next(inputs.c);
      };
      const taken$ = merge(refresh$, shown$).pipe(
        processInputs(queueIn(pause), parts({ poll, isPageIncomplete: () => polls < 3 })),
      );
      expectObservable(taken$).toBe(taken);
    }),
  );

  it(
    'processes a refresh after a second even if it would still be partial',
    marbles(({ hot, expectObservable }) => {
      const refresh$ = hot('R-', inputs);
      const taken$ = refresh$.pipe(
        processInputs(queueIn(400, true), parts({ isPageIncomplete: () => true })),
      );
      expectObservable(taken$).toBe('2s R');
    }),
  );

  it(
    'processes nothing for a subscriber that leaves during the poll',
    marbles(({ hot, time, expectObservable, expectSubscriptions }) => {
      const pause = time('      ---|    ');
      const input$ = hot('      -Rc-----', inputs);
      const taken = '           ----|   ';
      const subscribed = '      ^---!   ';
      const lost$ = new Subject<void>();
      const taken$ = input$.pipe(
        processInputs(queueIn(pause), parts({ poll: () => lost$.next() })),
        takeUntil(lost$),
      );
      expectObservable(taken$).toBe(taken);
      expectSubscriptions(input$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'forwards an error',
    marbles(({ hot, time, expectObservable }) => {
      const pause = time('      --|   ');
      const input$ = hot('      -c-#  ', inputs);
      const failing = parts({
        process: () => {
          throw new Error('torn');
        },
      });
      expectObservable(input$.pipe(processInputs(queueIn(9), parts()))).toBe('---#');
      const failed$ = hot('     -c----', inputs).pipe(processInputs(queueIn(pause), failing));
      expectObservable(failed$).toBe('---#', undefined, new Error('torn'));
    }),
  );
});
