// Loaded before each program of the demo: ends it when the demo has ended, even if it was killed.

// The demo holds the other end of the pipe, and writes nothing to it.
const { stdin } = process;
stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'));
stdin.unref();
