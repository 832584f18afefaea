// Limits the time of one response, from its request to its last byte.
import type { Socket } from 'node:net';
import { using } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';

/**
 * Closes the connection if the response is not over after `ms`. A socket timeout restarts with
 * every byte, so it never ends a client that reads a little now and then.
 */
export function deadline<T>(ms: number, socket: Socket): MonoTypeOperatorFunction<T> {
  return (response$) =>
    using(
      () => {
        const timer = setTimeout(() => socket.destroy(), ms);
        return {
          unsubscribe: () => {
            clearTimeout(timer);
          },
        };
      },
      () => response$,
    );
}
