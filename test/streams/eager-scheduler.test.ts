// What is due now runs as soon as others had their turn.
import { expect } from 'chai';
import { expand, lastValueFrom, map, of, take, timer, toArray } from 'rxjs';
import { eagerScheduler } from '#app/streams/eager-scheduler.js';
import { eventually } from '../support/eventually.js';
import { delay } from '../support/processes.js';
import { follow } from '../support/follow.js';

describe('eagerScheduler', () => {
  it('lets timers have their turn between two that are due', async () => {
    const slice$ = of(0).pipe(expand(() => timer(0, eagerScheduler)));
    const { seen, subscription } = follow(slice$);
    expect(seen).to.have.lengthOf(1);
    await eventually('more slices', () => seen.length > 3);
    subscription.unsubscribe();
  });

  it('waits where it is told to', async () => {
    const before = performance.now();
    await lastValueFrom(timer(15, eagerScheduler), { defaultValue: 0 });
    expect(performance.now() - before).to.be.at.least(14);
  });

  it('does nothing for who left', async () => {
    const { seen, subscription } = follow(timer(0, eagerScheduler));
    subscription.unsubscribe();
    await delay(5);
    expect(seen).to.deep.equal([]);
  });

  it('repeats what asks for it', async () => {
    const ticks$ = timer(0, 1, eagerScheduler).pipe(
      take(3),
      map((n) => n * 2),
      toArray(),
    );
    expect(await lastValueFrom(ticks$, { defaultValue: [] })).to.deep.equal([0, 2, 4]);
  });
});
