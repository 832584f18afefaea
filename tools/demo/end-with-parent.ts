// Loaded into each program of the demo. Ends the program as soon as the demo has ended, even if SIGKILL ended it.

// The demo holds the other end of this pipe and writes nothing to it, so stdin ends when the demo ends.
const { stdin } = process;
stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'));
stdin.unref();
