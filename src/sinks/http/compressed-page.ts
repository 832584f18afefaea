// Pages as one gzip member each; the part of them that lasts is compressed once.
import { ReplaySubject, defer, finalize, map, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { bytesOf } from '../../bytes.js';
import type { Deflated, Page } from '../../model.js';
import { deflate, deflateEnd } from './deflate.js';

/** RFC 1952: no name, no time, fastest method, no system in particular. */
const HEADER = Buffer.from('1f8b08000000000004ff', 'hex');

/**
 * Makes a function that takes a page and compresses it: what is ready at once is returned, else it is emitted.
 * The page is released as soon as nothing reads it any more, even if the subscriber has left.
 */
export function pageCompressor(
  compress: (pieces: readonly Uint8Array[]) => Promise<Deflated> = deflate,
): (page: Page) => Page | Observable<Page> {
  /** By the list that lasts, so that both are collected together. */
  const known = new WeakMap<readonly Uint8Array[], Observable<Deflated>>();
  const deflated = (page: Page, lasting: readonly Uint8Array[]): Observable<Deflated> => {
    const shared$ = known.get(lasting);
    if (shared$ !== undefined) {
      page.release();
      return shared$;
    }
    const made$ = defer(() => compress(lasting)).pipe(
      tap({ error: () => known.delete(lasting) }),
      finalize(() => {
        page.release();
      }),
      // It reads the page to its end even without a subscriber: the next scrape uses the result.
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: false,
        resetOnComplete: false,
      }),
    );
    known.set(lasting, made$);
    return made$;
  };
  return (page) => {
    const { contentType, ending = [] } = page;
    const fresh = Buffer.concat(ending);
    const whole = (start: Deflated, release: () => void): Page => {
      const pieces = [HEADER, ...start.pieces, deflateEnd(start, fresh)];
      return { contentType, pieces, bytes: bytesOf(pieces), release };
    };
    try {
      const ready = page.deflated;
      if (ready !== undefined) return whole(ready, page.release);
    } catch (error) {
      page.release();
      throw error;
    }
    return deflated(page, page.lasting ?? page.pieces).pipe(
      map((start) => whole(start, () => undefined)),
    );
  };
}
