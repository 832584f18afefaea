// Finds an unused TCP port, for a program that cannot report which port it chose.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that Linux gives to connections and to listeners at port 0: others get none of these. */
const FIRST = 15_000;
const END = 31_000;
const ATTEMPTS = 100;
/** Test files run beside each other, each worker of mocha with ports of its own: every sixteenth. */
const SHARES = 16;
const share = (process.ppid + Number(process.env['MOCHA_WORKER_ID'] ?? 0)) % SHARES;
/** A program may begin to listen long after it was told its port. */
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
  throw new Error(`Of ${ATTEMPTS} ports none was free`);
}
