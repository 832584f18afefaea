// The listening socket of a component: it can be closed, with all connections, and opened again.
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Fault, messageOf } from '#app/errors.js';

const ADDRESS = '127.0.0.1';
const MAX_CONNECTIONS = 512;

interface Listening {
  readonly server: Server;
  readonly port: number;
}

export class Listener {
  readonly #tls: { readonly cert: string; readonly key: string } | undefined;
  readonly #onRequest: RequestListener;
  readonly #onConnection: (socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  #listening: Listening | undefined;

  constructor(
    tls: { readonly cert: string; readonly key: string } | undefined,
    onRequest: RequestListener,
    onConnection: (socket: Socket) => void,
  ) {
    this.#tls = tls;
    this.#onRequest = onRequest;
    this.#onConnection = onConnection;
  }

  get isOpen(): boolean {
    return this.#listening !== undefined;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** @returns the port that was taken, @throws Fault LISTENER_FAILED */
  async open(port: number): Promise<number> {
    const server = this.#make();
    await new Promise<void>((resolve, reject) => {
      server.on('error', (error) => {
        const what = `Cannot listen on ${ADDRESS}:${port}: ${error.message}`;
        reject(new Fault('LISTENER_FAILED', what, { cause: error }));
      });
      server.listen(port, ADDRESS, resolve);
    });
    const taken = (server.address() as AddressInfo).port;
    this.#listening = { server, port: taken };
    return taken;
  }

  /** Stops listening and ends all connections, at once. */
  async shut(): Promise<void> {
    const server = this.#listening?.server;
    this.#listening = undefined;
    const closed = new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Resets all connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** @throws Fault USAGE if the certificate or the key cannot be used */
  #make(): Server {
    const server = this.#tls === undefined ? createServer() : secureServer(this.#tls);
    server.on('request', this.#onRequest);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      this.#onConnection(socket);
    });
    server.maxConnections = MAX_CONNECTIONS;
    return server;
  }
}

function secureServer(tls: { readonly cert: string; readonly key: string }): Server {
  try {
    return createSecureServer(tls);
  } catch (error) {
    throw new Fault('USAGE', `The certificate and its key cannot be used: ${messageOf(error)}`);
  }
}
