// Bounds the connections of a server, so that silent ones never keep out new ones.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Above `max`, the connection that has been without a request for the longest time is closed, which
 * may be the new one where all others are being answered. Slow request heads count as no request.
 */
export function limitConnections(server: Server, max: number, onDrop: () => void): void {
  const open = new Set<Socket>();
  /** The longest without a request first. */
  const silent = new Set<Socket>();
  const running = new WeakMap<Socket, number>();
  const forget = (socket: Socket) => {
    open.delete(socket);
    silent.delete(socket);
  };
  const change = (socket: Socket, by: number) => {
    const requests = (running.get(socket) ?? 0) + by;
    running.set(socket, requests);
    if (requests > 0) silent.delete(socket);
    else if (open.has(socket)) silent.add(socket);
  };
  server.on('connection', (socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      forget(socket);
    });
    if (open.size <= max) return;
    const [longest = socket] = silent;
    forget(longest);
    longest.destroy();
    onDrop();
  });
  server.on('request', ({ socket }, response) => {
    change(socket, 1);
    response.once('close', () => {
      change(socket, -1);
    });
  });
}
