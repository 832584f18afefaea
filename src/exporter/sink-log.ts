// Logs the events of a sink: where it is, when it starts and stops skipping snapshots, and why.
import type { TargetEvent } from '../model.js';
import type { SinkEvent } from '../sinks/sink.js';

/** How many reasons are reported until snapshots are written again. */
const MAX_REASONS = 8;

export function sinkLog(log: (event: TargetEvent) => void): (event: SinkEvent) => void {
  let skipped = 0;
  const reported = new Set<string>();
  return (event) => {
    switch (event.kind) {
      case 'opened':
        log({ level: 'info', message: `metrics at ${event.where}` });
        break;
      case 'skipped':
        skipped++;
        if (reported.has(event.reason) || reported.size >= MAX_REASONS) break;
        reported.add(event.reason);
        log({ level: 'warning', message: `${event.reason}: skipping snapshots` });
        break;
      case 'served':
        if (event.outcome === 'cut')
          log({ level: 'debug', message: `a response was cut after ${event.bytes} bytes` });
        if (skipped === 0 || event.outcome !== 'delivered') break;
        log({ level: 'info', message: `serving again: skipped ${skipped} snapshots` });
        skipped = 0;
        reported.clear();
    }
  };
}
