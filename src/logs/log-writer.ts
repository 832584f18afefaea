// Writes the log to stderr. If nothing reads its lines, they are lost and the process goes on.
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** The most bytes that wait for a slow reader. */
const MAX_WAITING = 1 << 20;

/**
 * A writer that never blocks or throws, and buffers little.
 * @param stream of the descriptor `fd`, as the process has it
 */
export function logWriter(stream: Writable, fd: number): (text: string) => void {
  // A closed reader is an `error` event, which ends a process without a listener.
  stream.on('error', () => undefined);
  if (stream instanceof Socket)
    return (text) => {
      if (stream.writableLength < MAX_WAITING) stream.write(text);
    };
  return (text) => {
    try {
      // Not by the stream: once a disk was full, a file stream never writes again.
      writeSync(fd, text);
    } catch {
      // There is no other place to report it.
    }
  };
}

/**
 * @param stream the variable JOURNAL_STREAM, which has device and inode of the journal's socket
 *   (systemd.exec(5)); a descriptor that was redirected since is another file
 */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
