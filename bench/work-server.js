// A server that does the work of a scrape and nothing else: what is between it and the exporter is what targets,
// checks and streams of events cost.
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
