// What is said of a segment before its tree: its publisher, and whether that is still there.
import { ageText, agoText, countText, timeText } from '../../shown/ages.js';
import type { SegmentFacts } from '../segment/seen-segment.js';

/** A few lines, safe for a terminal. */
export function headingLines(facts: SegmentFacts, nowMs: number): readonly string[] {
  const { name, generation, publisher, process: owner, heartbeatAge, drops } = facts;
  const { startedUnixMs: started } = owner;
  const beat = heartbeatAge === undefined ? 'none' : `${ageText(heartbeatAge)} ago`;
  const last = publisher.state === 'live' ? '' : '; these are its last values';
  const where = owner.isElsewhere === true ? ' (not of this PID namespace)' : '';
  const lost = drops.objects + drops.variables;
  return [
    `segment    ${name}, generation ${generation}`,
    `publisher  ${publisher.state}: ${publisher.reason}${last}`,
    `process    pid ${owner.pid}${where}, started ${timeText(started)} (${agoText(started, nowMs)})`,
    `heartbeat  ${beat}`,
    ...(lost === 0
      ? []
      : [
          `no room    for ${countText(drops.objects, 'object')} and ${countText(drops.variables, 'variable')}`,
        ]),
  ];
}
