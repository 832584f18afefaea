// Compresses the replies that are worth it, for clients that prefer gzip.
import { isObservable, map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Page } from '../../model.js';
import { pageCompressor } from './compressed-page.js';
import { prefersGzip } from './prefers-gzip.js';
import type { Reply } from './reply.js';

/** Smaller bodies fit one packet as they are. */
const MIN_BYTES = 1024;

/** Makes a function that makes of a reply what a client with this Accept-Encoding header gets. */
export function replyCompressor(): (
  reply: Reply,
  acceptEncoding: string | undefined,
) => Reply | Observable<Reply> {
  const compressed = pageCompressor();
  return (reply, acceptEncoding) => {
    const { status, page, headers, isCompressible = false } = reply;
    if (!isCompressible || page.bytes < MIN_BYTES || !prefersGzip(acceptEncoding)) return reply;
    const withPage = (smaller: Page): Reply => ({
      status,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
      page: smaller,
      saved: Math.max(0, page.bytes - smaller.bytes),
    });
    const smaller = compressed(page);
    return isObservable(smaller) ? smaller.pipe(map(withPage)) : withPage(smaller);
  };
}
