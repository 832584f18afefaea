// Logs the events of a sink: where it is, and when it starts and stops skipping snapshots.
import type { TargetEvent } from '../model.js';
import type { SinkEvent } from '../sinks/sink.js';

export function sinkLog(log: (event: TargetEvent) => void): (event: SinkEvent) => void {
  let skipped = 0;
  return (event) => {
    switch (event.kind) {
      case 'opened':
        log({ level: 'info', message: `metrics at ${event.where}` });
        break;
      case 'skipped':
        if (skipped++ === 0)
          log({ level: 'warning', message: `${event.reason}: skipping snapshots` });
        break;
      case 'served':
        if (event.outcome === 'cut')
          log({ level: 'debug', message: `a response was cut after ${event.bytes} bytes` });
        if (skipped === 0 || event.outcome !== 'delivered') break;
        log({ level: 'info', message: `serving again: skipped ${skipped} snapshots` });
        skipped = 0;
    }
  };
}
