// Limits the connections of a server; idle ones make room for new ones.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Above `max`, closes the connection that has been idle for the longest time; that is the new one
 * if all others are being answered. A connection whose request is incomplete is idle.
 */
export function limitConnections(server: Server, max: number, onDrop: () => void): void {
  const open = new Set<Socket>();
  /** The longest idle first. */
  const idle = new Set<Socket>();
  const running = new WeakMap<Socket, number>();
  const forget = (socket: Socket) => {
    open.delete(socket);
    idle.delete(socket);
  };
  const change = (socket: Socket, by: number) => {
    const requests = (running.get(socket) ?? 0) + by;
    running.set(socket, requests);
    if (requests > 0) idle.delete(socket);
    else if (open.has(socket)) idle.add(socket);
  };
  server.on('connection', (socket) => {
    open.add(socket);
    idle.add(socket);
    socket.once('close', () => {
      forget(socket);
    });
    if (open.size <= max) return;
    const [longest = socket] = idle;
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
