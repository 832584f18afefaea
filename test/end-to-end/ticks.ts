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
 * Checks the shortest interval: none may be too short, and at least one must be on time. Others may be late
 * on a busy machine.
 */
export function expectTicks(spans: readonly number[], leastMs: number, mostMs: number): void {
  expect(spans).not.to.be.empty;
  const shortest = Math.min(...spans);
  expect(shortest, spans.join(' ')).to.be.within(leastMs, mostMs);
}
