// Preloaded into an exporter. At SIGUSR2 and at the exit, prints to stderr for how long the event loop was blocked
// since the last line, or since the start, and how much processor time the exporter has used.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';

/** The sampling interval in ms. */
const RESOLUTION = 1;
/** The start takes about 200 ms and blocks the event loop for long; do not measure it. */
const START_MS = 400;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
setTimeout(() => delays.enable(), START_MS).unref();
// Stop measuring at SIGTERM: at its exit, Node.js waits for compilations that V8 has begun.
process.once('SIGTERM', () => delays.disable());

const heldMs = (ns) => Math.max(0, ns / 1e6 - RESOLUTION);
const print = () => {
  const { user, system } = process.cpuUsage();
  const turns = {
    longestMs: heldMs(delays.max),
    p99Ms: heldMs(delays.percentile(99)),
    cpuMs: (user + system) / 1000,
  };
  process.stderr.write(`turns ${JSON.stringify(turns)}\n`);
  delays.reset();
};
process.on('SIGUSR2', print).on('exit', print);
