// A client that sends many requests over one connection in batches, and reads the answers of each batch.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** The number of requests in a batch: less than the number that the server answers concurrently. */
const BATCH = 48;

export class KeepAliveClient {
  readonly #socket: Socket;
  #received = '';

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#socket = connect(Number(port), hostname).setEncoding('latin1').setNoDelay();
    this.#socket.on('data', (text: string) => (this.#received += text));
  }

  /** Requests these paths, and returns the answers in the same order. */
  async ask(paths: readonly string[], method = 'GET'): Promise<readonly RawAnswer[]> {
    const answers: RawAnswer[] = [];
    for (let first = 0; first < paths.length; first += BATCH) {
      const batch = paths.slice(first, first + BATCH);
      this.#socket.write(
        batch.map((path) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
      );
      while (answers.length < first + batch.length) {
        const answer = this.#take();
        if (answer === undefined) await once(this.#socket, 'data');
        else answers.push(answer);
      }
    }
    return answers;
  }

  end(): void {
    this.#socket.destroy();
  }

  /** Removes the next complete answer from the received text and returns it. */
  #take(): RawAnswer | undefined {
    const [head = '', status, length] =
      /^HTTP\/1\.1 (\d+)[^]*?\r\nContent-Length: (\d+)\r\n[^]*?\r\n\r\n/.exec(this.#received) ?? [];
    const end = head.length + Number(length);
    if (head === '' || this.#received.length < end) return undefined;
    const text = this.#received.slice(head.length, end);
    this.#received = this.#received.slice(end);
    return { status: Number(status), text };
  }
}
