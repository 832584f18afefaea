// Preloaded into a program: tells the parent process for how long the program blocked its event loop.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The sampling interval in ms, which the histogram adds to each delay. */
const RESOLUTION = 10;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
delays.enable();
process.on('message', () => {
  process.send({ holdMs: Math.max(0, delays.max / 1e6 - RESOLUTION) });
  delays.reset();
});
// The channel must not keep the program running.
process.channel.unref();
