// Fetches a page.
import { Agent, get } from 'node:http';
import { gunzipSync } from 'node:zlib';

const agent = new Agent({ keepAlive: true });

/** The status and the text of a page of this host; decompresses gzip. */
export const fetchPage = (port, path, encoding = 'identity') =>
  new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': encoding };
    get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        const isZipped = response.headers['content-encoding'] === 'gzip';
        const text = (isZipped ? gunzipSync(body) : body).toString();
        resolve({ status: response.statusCode, text });
      });
      response.on('error', reject);
    }).on('error', reject);
  });
