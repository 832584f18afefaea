// How a poll takes the event loop; what it brings over a real connection is in fetch-body.test.ts.
import { expect } from 'chai';
import { VirtualTimeScheduler, of } from 'rxjs';
import { poll } from '#app/bridge/poll/poll.js';
import type { PollOutcome } from '#app/bridge/poll/poll.js';

describe('poll', () => {
  it('lets others have the event loop between parsing, reading and what follows', () => {
    const scheduler = new VirtualTimeScheduler();
    const bytes = Buffer.from('[{"Instance":"h.1.a","Class":"C"}]');
    const outcomes: PollOutcome[] = [];
    poll(() => of({ bytes, received: bytes.length }), {
      limits: { maxObjects: 10, maxVariables: 10, maxDepth: 4 },
      requestTimeoutMs: 1000,
      unixMs: () => 7,
      steadyMs: () => scheduler.now(),
      scheduler,
    }).subscribe({
      next: (outcome) => outcomes.push(outcome),
      error: (error: unknown) => expect.fail(String(error)),
    });
    expect(outcomes, 'with the last of the body').to.deep.equal([]);
    scheduler.actions.shift()?.execute(undefined, 0);
    expect(outcomes, 'a turn later').to.deep.equal([]);
    scheduler.flush();
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['tree']);
    expect(scheduler.now(), 'ms that it waited').to.equal(0);
  });
});
