// The last requests to a component, oldest first.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface LoggedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

const MAX_REQUESTS = 1000;

export class RequestLog {
  readonly #requests: LoggedRequest[] = [];

  /** At most 1000. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  add({ method = '', url = '', headers }: IncomingMessage): void {
    this.#requests.push({ method, url, headers });
    if (this.#requests.length > MAX_REQUESTS) this.#requests.shift();
  }
}
