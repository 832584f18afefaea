// Finds an unused TCP port for a program that cannot report which port it listens on.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The range ends below the ephemeral ports, which Linux assigns to connections and to listeners at port 0.
 */
const FIRST = 15_000;
const END = 31_000;
const ATTEMPTS = 100;
/**
 * Mocha runs test files in parallel. Each worker uses only every sixteenth port, so workers never choose the
 * same one.
 */
const SHARES = 16;
const share = (process.ppid + Number(process.env['MOCHA_WORKER_ID'] ?? 0)) % SHARES;
/** Ports returned so far. They are not returned again, because a program may begin to listen much later. */
const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + randomInt((END - FIRST) / SHARES) * SHARES + share;
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`None of ${ATTEMPTS} ports was free`);
}
