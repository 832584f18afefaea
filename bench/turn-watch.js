// Loaded into an exporter before its own code: at its end it says on stderr for how long its event
// loop was held, and what it cost, once its programs were loaded.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';

/** The rest between two looks, in ms. */
const RESOLUTION = 1;
/** To load and start it takes 0.2 s, in long turns. */
const START_MS = 400;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
setTimeout(() => delays.enable(), START_MS).unref();
// At its end Node waits until V8 has compiled what it began to.
process.once('SIGTERM', () => delays.disable());

const heldMs = (ns) => Math.max(0, ns / 1e6 - RESOLUTION);
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const turns = {
    longestMs: heldMs(delays.max),
    p99Ms: heldMs(delays.percentile(99)),
    cpuMs: (user + system) / 1000,
  };
  process.stderr.write(`turns ${JSON.stringify(turns)}\n`);
});
