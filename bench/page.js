// One scrape of a page.
import { Agent, get } from 'node:http';

const agent = new Agent({ keepAlive: true });

/** Status and text of a page of this host. */
export const fetchPage = (port, path) =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
      );
      response.on('error', reject);
    }).on('error', reject);
  });
