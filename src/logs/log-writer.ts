// Writes the log to stderr. Where nobody takes its lines they are lost, and the process goes on.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** Bytes that wait for a reader who is behind. */
const MAX_WAITING = 1 << 20;

/**
 * A writer that never blocks, throws or keeps much.
 * @param stream of the descriptor `fd`, as the process has it
 */
export function logWriter(stream: Writable, fd: number): (text: string) => void {
  // A reader that goes is told of as an error, which ends a process that does not listen.
  stream.on('error', () => undefined);
  if (stream instanceof Socket)
    return (text) => {
      if (stream.writableLength < MAX_WAITING) stream.write(text);
    };
  return (text) => {
    try {
      // Not by the stream: that of a file writes nothing more once a disk was full.
      writeSync(fd, text);
    } catch {
      // There is no other place to tell it.
    }
  };
}
