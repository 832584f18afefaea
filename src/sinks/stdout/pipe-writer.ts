// Writes documents to a descriptor without ever blocking the process.
import { createWriteStream, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { Observable } from 'rxjs';
import { isSystemError, messageOf } from '../../errors.js';
import { NotWritten, ReaderGone } from './stdout.js';
import type { DocumentWriter } from './stdout.js';

/** Pipes are written to when they have room; files and terminals take all at once. */
function streamOf(fd: number): Writable {
  const kind = fstatSync(fd);
  if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd, readable: false, writable: true });
  return createWriteStream('', { fd, autoClose: false });
}

/**
 * Writes documents to a file descriptor. A document that was begun is written to its end, even after its subscriber
 * has left. If a write fails, its document errors with `NotWritten`, and the next one begins on a line of its own.
 */
export function pipeWriter(fd: number): DocumentWriter {
  const opened = (): Writable => {
    const stream = streamOf(fd);
    // Each write reports its own failure. Without a listener, the first failure would end the process.
    return stream.on('error', () => undefined);
  };
  let stream = opened();
  let isCut = false;
  return ({ pieces, release }) =>
    new Observable((subscriber) => {
      const rest = pieces[Symbol.iterator]();
      let bytes = 0;
      const fail = (error: unknown) => {
        release();
        // A pipe or socket whose write failed is closed.
        if (stream instanceof Socket) subscriber.error(new ReaderGone());
        else if (isSystemError(error)) {
          // A stream that failed accepts no further writes.
          stream = opened();
          isCut = true;
          subscriber.error(new NotWritten(`stdout cannot be written: ${messageOf(error)}`));
        } else subscriber.error(error);
      };
      const writeNext = () => {
        const piece = rest.next();
        if (piece.done === true) {
          release();
          subscriber.next(bytes);
          subscriber.complete();
          return;
        }
        bytes += piece.value.length;
        stream.write(piece.value, (error) => {
          if (error) fail(error);
          // A fast reader must not keep the event loop from other work.
          else setImmediate(writeNext);
        });
      };
      if (!isCut) writeNext();
      else
        stream.write('\n', (error) => {
          if (error) {
            fail(error);
            return;
          }
          isCut = false;
          writeNext();
        });
    });
}
