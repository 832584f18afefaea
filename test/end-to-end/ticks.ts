// Checks the ticks at which snapshots are printed.
import { expect } from 'chai';

/** Returns the milliseconds between the snapshots of the only target, by their timestamps. */
export function spansBetween(printed: string): number[] {
  const times = [...printed.matchAll(/^# snapshot .* time=(\S+)/gm)].map(([, time = '']) =>
    Date.parse(time),
  );
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

/**
 * Checks that snapshots are printed every `periodMs`. On a busy machine a snapshot may be late, which makes one span
 * too long and the next one too short. So at least one span must be long enough, and at least one short enough.
 */
export function expectTicks(spans: readonly number[], periodMs: number): void {
  expect(spans).to.have.length.above(1);
  expect(Math.max(...spans), spans.join(' ')).to.be.at.least(0.9 * periodMs);
  expect(Math.min(...spans), spans.join(' ')).to.be.below(1.7 * periodMs);
}
