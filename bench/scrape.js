// Scrapes over a persistent connection.
import { Agent, get } from 'node:http';

export const agent = new Agent({ keepAlive: true });

/** The milliseconds from the request to the last byte, the number of bytes and, with `wantsBody`, the body. */
export function scrape(port, wantsBody = false, headers = {}, path = '/metrics') {
  return new Promise((resolve, reject) => {
    const startedAt = process.hrtime.bigint();
    get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      const chunks = [];
      let bytes = 0;
      response.on('data', (chunk) => {
        bytes += chunk.length;
        if (wantsBody) chunks.push(chunk);
      });
      response.on('end', () => {
        const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
        if (response.statusCode === 200) resolve({ ms, bytes, body: Buffer.concat(chunks) });
        else reject(new Error(`status ${response.statusCode}: ${Buffer.concat(chunks)}`));
      });
    }).on('error', reject);
  });
}
