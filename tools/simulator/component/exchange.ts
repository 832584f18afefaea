// One request and its answer; the answer stops when the client disconnects.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '#app/errors.js';
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
    // A client that disconnects is no error here.
    response.on('error', () => undefined);
    // Nothing else reads a request's body; without this, one would block the connection.
    request.resume();
  }

  /** Rejects if the client disconnects first. */
  async pause(ms: number): Promise<void> {
    if (ms > 0) await setTimeout(ms, undefined, { signal: this.#over.signal });
  }

  send(answer: Answer): void {
    const { isChunked } = this.#manners;
    if (answer.status === 204 || !isChunked) this.head(answer, answer.body.length);
    else this.head(answer);
    this.response.end(answer.body);
  }

  /** Sends a body of any length through these streams, with backpressure. */
  async stream(
    head: Pick<Answer, 'status' | 'headers'>,
    source: Readable,
    ...through: readonly Duplex[]
  ): Promise<void> {
    this.head(head);
    await pipeline([source, ...through, this.response]);
  }

  /** Sends the head alone; without a length the body is chunked. */
  head({ status, headers }: Pick<Answer, 'status' | 'headers'>, length?: number): void {
    this.response.writeHead(status, {
      ...headers,
      ...(length !== undefined && status !== 204 && { 'Content-Length': length }),
      ...(!this.#manners.keepsAlive && { Connection: 'close' }),
    });
    this.response.flushHeaders();
  }

  /** Closes the connection after these bytes, whatever length the head declared. */
  hangUpAfter(bytes: Buffer): void {
    if (bytes.length > 0) this.response.write(bytes);
    this.response.socket?.destroySoon();
  }

  /** Closes the connection without an answer. */
  drop(): void {
    this.response.destroy();
  }

  /** Ends an exchange that cannot continue, mostly because its client disconnected. */
  fail(error: unknown): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) response.destroy();
    else this.send(plainAnswer(500, `${messageOf(error)}\n`));
  }
}
