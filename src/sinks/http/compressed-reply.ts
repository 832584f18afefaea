// Compresses the replies that are worth it, for clients that prefer gzip.
import { map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { pageCompressor } from './compressed-page.js';
import { prefersGzip } from './prefers-gzip.js';
import type { Reply } from './reply.js';

/** Smaller bodies fit one packet as they are. */
const MIN_BYTES = 1024;

/** Makes a function that emits a reply as a client with this Accept-Encoding header gets it. */
export function replyCompressor(): (
  reply: Reply,
  acceptEncoding: string | undefined,
) => Observable<Reply> {
  const compressed = pageCompressor();
  return (reply, acceptEncoding) => {
    const { page, headers, isCompressible = false } = reply;
    if (!isCompressible || page.bytes < MIN_BYTES || !prefersGzip(acceptEncoding)) return of(reply);
    return compressed(page).pipe(
      map((smaller) => ({
        ...reply,
        headers: { ...headers, 'Content-Encoding': 'gzip' },
        page: smaller,
        saved: Math.max(0, page.bytes - smaller.bytes),
      })),
    );
  };
}
