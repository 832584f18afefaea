// Loaded before each program of the demo: ends it when the demo is gone, however the demo ended.

// The demo holds the other end and writes nothing to it.
const { stdin } = process;
stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'));
stdin.unref();
