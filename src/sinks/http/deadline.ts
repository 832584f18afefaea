// A bound on the time that one answer may take, from its request to its last byte.
import type { Socket } from 'node:net';
import { defer, finalize } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';

/**
 * Ends the connection when the answer is not over after `ms`. A timeout of the socket starts anew
 * with every byte, so a client that reads a little now and then would never meet it.
 */
export function deadline<T>(ms: number, socket: Socket): MonoTypeOperatorFunction<T> {
  return (answer$) =>
    defer(() => {
      const timer = setTimeout(() => socket.destroy(), ms);
      return answer$.pipe(
        finalize(() => {
          clearTimeout(timer);
        }),
      );
    });
}
