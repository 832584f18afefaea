// Replaces the streams stdout and stderr of Node.js, unless they are terminals. Import this module first. Node.js and
// packages open these streams for threads, for warnings, or to detect color support. Node.js then makes a shared pipe
// non-blocking, so that writes of other programs fail.
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { complain, print } from './print.js';

const STREAMS = [
  ['stdout', 1, print],
  ['stderr', 2, complain],
] as const;

for (const [name, fd, write] of STREAMS)
  if (!isatty(fd)) {
    const stream = new Writable({
      write(bytes: Buffer, _encoding, done) {
        try {
          write(bytes);
          done();
        } catch (error) {
          done(error instanceof Error ? error : null);
        }
      },
    });
    Object.defineProperty(process, name, { value: Object.assign(stream, { fd }) });
  }
