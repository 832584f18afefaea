// Loaded into a program before its own code: tells its parent for how long its event loop was held.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What the histogram adds to a delay: the rest between two looks, in ms. */
const RESOLUTION = 10;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
delays.enable();
process.on('message', () => {
  process.send({ holdMs: Math.max(0, delays.max / 1e6 - RESOLUTION) });
  delays.reset();
});
// The channel alone keeps no program alive.
process.channel.unref();
