// Compresses the replies that are worth it, for clients that like it.
import { map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { likesGzip } from './likes-gzip.js';
import type { Reply } from './reply.js';
import { zippedPages } from './zipped-page.js';

/** Smaller bodies fit one packet as they are. */
const LEAST_BYTES = 1024;

/** Makes a function that emits a reply as a client with this Accept-Encoding header gets it. */
export function zipper(): (reply: Reply, acceptEncoding: string | undefined) => Observable<Reply> {
  const zippedPage = zippedPages();
  return (reply, acceptEncoding) => {
    const { page, headers, mayZip = false } = reply;
    if (!mayZip || page.bytes < LEAST_BYTES || !likesGzip(acceptEncoding)) return of(reply);
    return zippedPage(page).pipe(
      map((zipped) => ({
        ...reply,
        headers: { ...headers, 'Content-Encoding': 'gzip' },
        page: zipped,
        saved: Math.max(0, page.bytes - zipped.bytes),
      })),
    );
  };
}
