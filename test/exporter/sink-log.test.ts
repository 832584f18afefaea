// What the log says of a sink: when snapshots are skipped, each reason, and when they are written again.
import { expect } from 'chai';
import { sinkLog } from '#app/exporter/observers.js';
import type { SinkEvent } from '#app/sinks/sink.js';

const served: SinkEvent = { kind: 'served', bytes: 7, outcome: 'delivered' };
const skipped = (reason: string): SinkEvent => ({ kind: 'skipped', reason });

/** What is logged for some events. */
function linesFor(...events: readonly SinkEvent[]): string[] {
  const lines: string[] = [];
  const tell = sinkLog(({ message }) => lines.push(message));
  for (const event of events) tell(event);
  return lines;
}

describe('sinkLog', () => {
  it('tells when snapshots begin to be skipped, and when they are written again', () =>
    expect(linesFor(served, skipped('full'), skipped('full'), served, served)).to.deep.equal([
      'full: skipping snapshots',
      'serving again: skipped 2 snapshots',
    ]));

  it('tells of each reason once, whichever came first', () =>
    expect(linesFor(...['slow', 'full', 'slow', 'full'].map(skipped), served)).to.deep.equal([
      'slow: skipping snapshots',
      'full: skipping snapshots',
      'serving again: skipped 4 snapshots',
    ]));

  it('tells of a reason anew after snapshots were written', () =>
    expect(linesFor(skipped('full'), served, skipped('full'))).to.deep.equal([
      'full: skipping snapshots',
      'serving again: skipped 1 snapshots',
      'full: skipping snapshots',
    ]));

  it('tells of no more than eight reasons', () => {
    const reasons = Array.from({ length: 20 }, (_, nth) => skipped(`reason ${nth}`));
    expect(linesFor(...reasons)).to.have.length(8);
  });
});
