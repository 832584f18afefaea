// One request and what becomes of it; a client that leaves ends whatever is under way.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../errors.js';
import { plainAnswer } from './answer.js';
import type { Answer } from './answer.js';

export interface Manners {
  readonly isChunked: boolean;
  readonly keepsAlive: boolean;
}

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #manners: Manners;
  readonly #over = new AbortController();

  constructor(request: IncomingMessage, response: ServerResponse, manners: Manners) {
    this.request = request;
    this.response = response;
    this.#manners = manners;
    response.once('close', () => {
      this.#over.abort();
    });
    // That a client has gone is no error here.
    response.on('error', () => undefined);
    // Nobody reads a request's body; without this a sent one would hold the connection.
    request.resume();
  }

  /** Rejects when the client leaves before. */
  async pause(ms: number): Promise<void> {
    if (ms > 0) await setTimeout(ms, undefined, { signal: this.#over.signal });
  }

  send(answer: Answer): void {
    const { isChunked } = this.#manners;
    if (answer.status === 204 || !isChunked) this.head(answer, answer.body.length);
    else this.head(answer);
    this.response.end(answer.body);
  }

  /** Sends a body of any length through these streams, no faster than it is read. */
  async stream(
    head: Pick<Answer, 'status' | 'headers'>,
    source: Readable,
    ...through: readonly Duplex[]
  ): Promise<void> {
    this.head(head);
    await pipeline([source, ...through, this.response]);
  }

  /** Sends the head alone; without a length the body goes in chunks. */
  head({ status, headers }: Pick<Answer, 'status' | 'headers'>, length?: number): void {
    this.response.writeHead(status, {
      ...headers,
      ...(length !== undefined && status !== 204 && { 'Content-Length': length }),
      ...(!this.#manners.keepsAlive && { Connection: 'close' }),
    });
    this.response.flushHeaders();
  }

  /** Ends the connection after these bytes, whatever the head said. */
  hangUpAfter(bytes: Buffer): void {
    if (bytes.length > 0) this.response.write(bytes);
    this.response.socket?.destroySoon();
  }

  /** Ends the connection without a word. */
  drop(): void {
    this.response.destroy();
  }

  /** Ends an exchange that cannot go on, mostly because its client has left. */
  fail(error: unknown): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) response.destroy();
    else this.send(plainAnswer(500, `${messageOf(error)}\n`));
  }
}
