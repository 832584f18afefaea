// A server that does the work of a scrape and nothing else: what is between it and the exporter is what targets,
// checks and streams of events cost.
import { createServer } from 'node:http';
import { deflateEnd } from '../dist/sinks/http/gzip.js';

const GZIP = Buffer.from('1f8b08000000000004ff', 'hex');
const NOTHING = Buffer.alloc(0);

export const serverOf = (work) =>
  createServer((request, response) => {
    work.copy();
    const isGzip = request.headers['accept-encoding'] === 'gzip';
    const page = work.page({ text: !isGzip, deflated: isGzip });
    const { deflated } = isGzip ? page : {};
    const end = deflated?.hold?.();
    const pieces = deflated
      ? [GZIP, ...deflated.pieces, deflateEnd(deflated, NOTHING)]
      : page.pieces;
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    response.writeHead(200, {
      'Content-Type': 'text/plain',
      'Content-Length': bytes,
      ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
    });
    response.cork();
    for (const piece of pieces) response.write(piece);
    response.uncork();
    response.end();
    response.on('close', () => {
      end?.();
      page.release();
    });
  });
