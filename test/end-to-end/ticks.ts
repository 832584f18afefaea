// The ticks at which snapshots are printed.
import { expect } from 'chai';

/** Milliseconds between the snapshots of a target that prints alone, by the times that they state. */
export function spansBetween(printed: string): number[] {
  const times = [...printed.matchAll(/^# snapshot .* time=(\S+)/gm)].map(([, time = '']) =>
    Date.parse(time),
  );
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

/** Checks spans between ticks: none is shorter; on a busy machine a tick may be late, but not each. */
export function expectTicks(spans: readonly number[], leastMs: number, mostMs: number): void {
  expect(spans).not.to.be.empty;
  const shortest = Math.min(...spans);
  expect(shortest, spans.join(' ')).to.be.within(leastMs, mostMs);
}
