// Limits the connections of a server; idle ones make room for new ones.
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';

type Key = Socket | string;

/**
 * Above `max`, closes the connection that has been idle for the longest time; that is the new one
 * if all others are being answered. A connection whose request is incomplete is idle.
 * @returns what closes all idle ones, those that never asked for anything too
 */
export function limitConnections(server: Server, max: number, onDrop: () => void): () => void {
  const keyOf = server instanceof TlsServer ? tlsKeyOf : (socket: Socket): Key => socket;
  const open = new Map<Key, Socket>();
  /** Keys of those that are idle, the longest idle first. */
  const idle = new Set<Key>();
  const running = new Map<Key, number>();
  const forget = (key: Key) => {
    open.delete(key);
    idle.delete(key);
    running.delete(key);
  };
  const change = (key: Key, by: number) => {
    if (!open.has(key)) return;
    const requests = (running.get(key) ?? 0) + by;
    running.set(key, requests);
    if (requests > 0) idle.delete(key);
    else idle.add(key);
  };
  server.on('connection', (socket) => {
    const key = keyOf(socket);
    open.set(key, socket);
    idle.add(key);
    socket.once('close', () => {
      if (open.get(key) === socket) forget(key);
    });
    if (open.size <= max) return;
    const [longest = key] = idle;
    const dropped = open.get(longest);
    forget(longest);
    dropped?.destroy();
    onDrop();
  });
  server.on('request', ({ socket }, response) => {
    const key = keyOf(socket);
    change(key, 1);
    response.once('close', () => {
      change(key, -1);
    });
  });
  return () => {
    for (const key of idle) open.get(key)?.destroy();
  };
}

let unnamed = 0;
/** Those of connections that have no ports, as over a socket in the file system. */
const names = new WeakMap<Socket, string>();

/** What the socket of a connection shares with the one that TLS makes of it, and with no other. */
function tlsKeyOf(socket: Socket): string {
  const name = names.get(socket);
  if (name !== undefined) return name;
  const { localPort, remoteAddress, remotePort } = socket;
  if (remotePort !== undefined) return `${remoteAddress} ${remotePort} ${localPort}`;
  const made = `unnamed ${++unnamed}`;
  names.set(socket, made);
  return made;
}
