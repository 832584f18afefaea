// A small valid target. While other targets have faults, it must be served in time and with correct values.
import { get } from 'node:http';
import { Forge } from './forge.js';

const VALUES = 100;
const KEY = 'good';
const ROOT = 'h.1.good';
/** The time limit of a scrape. */
const MAX_WAIT_MS = 120_000;

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

/** Scrapes over a new connection. */
export function fetchPage(url: string, waitMs = MAX_WAIT_MS): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body, ms: performance.now() - began });
      });
    });
    request.setTimeout(waitMs, () => request.destroy(new Error(`no answer in ${waitMs} ms`)));
    request.on('error', reject);
  });
}

/** Publishes the control target; each value encodes its round and its variable. */
export class ControlPublisher {
  readonly #forge: Forge;
  #round = 0;

  constructor(contextId: string) {
    this.#forge = new Forge(contextId, KEY, { records: VALUES + 1 });
    const owner = this.#forge.object({ name: ROOT });
    for (let i = 0; i < VALUES; i++)
      this.#forge.variable({ owner, name: `v${i}`, value: BigInt(i) });
    this.#forge.publish();
    this.#forge.place();
  }

  get round(): number {
    return this.#round;
  }

  update(): void {
    this.#round++;
    for (let i = 0; i < VALUES; i++)
      this.#forge.bytes.writeBigUInt64LE(
        BigInt(this.#round * 1000 + i),
        this.#forge.layout.slotValues + (i + 1) * 8,
      );
    this.#forge.notify();
  }

  close(): void {
    this.#forge.close();
  }
}

/** The errors in a page of the control target. */
export function faultsOf({ status, body }: Answer, round: number): string[] {
  if (status !== 200) return [`status ${status}: ${body.trim().slice(0, 200)}`];
  const found: string[] = [];
  let count = 0;
  for (const [, name, value] of body.matchAll(/^good_thing_v(\d+)(?:\{[^}]*\})? (\d+)$/gm)) {
    count++;
    if (Number(value) % 1000 !== Number(name)) found.push(`v${name} is ${value}`);
    if (Math.floor(Number(value) / 1000) < round) found.push(`v${name} is ${value}, old`);
  }
  return count === VALUES ? found : [...found, `${count} series instead of ${VALUES}`];
}
