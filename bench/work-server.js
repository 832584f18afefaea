// A server that only does the work of a scrape. An exporter's scrape takes longer by the cost of targets, checks
// and event streams.
import { createServer } from 'node:http';

export const serverOf = (work) =>
  createServer(async (request, response) => {
    work.copy();
    const isGzip = request.headers['accept-encoding'] === 'gzip';
    const page = work.page({ text: !isGzip, deflated: isGzip });
    const { buffers, bytes, release } = isGzip ? await page.gzip() : page;
    response.writeHead(200, {
      'Content-Type': 'text/plain',
      'Content-Length': bytes,
      ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
    });
    response.cork();
    for (const buffer of buffers) response.write(buffer);
    response.uncork();
    response.end();
    response.on('close', release);
  });
