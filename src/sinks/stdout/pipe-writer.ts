// Writes pages to a descriptor without ever blocking the process.
import { createWriteStream, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { Observable } from 'rxjs';
import { ReaderGone } from './stdout.js';
import type { PageWriter } from './stdout.js';

/** Pipes are written to when they have room; files and terminals take all at once. */
function streamOf(fd: number): Writable {
  const kind = fstatSync(fd);
  if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd, readable: false, writable: true });
  return createWriteStream('', { fd, autoClose: false });
}

const GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

export function pipeWriter(fd: number): PageWriter {
  const stream = streamOf(fd);
  // Failures are told to whoever writes; without a listener they would end the process.
  stream.on('error', () => undefined);
  return (page) =>
    new Observable((subscriber) => {
      let isReleased = false;
      const release = () => {
        if (!isReleased) page.release();
        isReleased = true;
      };
      const last = page.pieces.length - 1;
      page.pieces.forEach((piece, index) => {
        stream.write(piece, (error) => {
          if (index === last || error) release();
          if (error) subscriber.error(isGone(error) ? new ReaderGone() : error);
          else if (index === last) {
            subscriber.next();
            subscriber.complete();
          }
        });
      });
    });
}

const isGone = (error: Error): boolean => 'code' in error && GONE.has(String(error.code));
