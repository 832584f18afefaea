// Pages as one gzip member each; what lasts of them is compressed once.
import { ReplaySubject, defer, finalize, map, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Page } from '../../model.js';
import { deflate, deflateEnd } from './deflate.js';
import type { Deflated } from './deflate.js';
import { takeTurns } from './take-turns.js';

/**
 * Compressions at once. The pool has four threads, one of which may be waiting on a futex for
 * seconds; what else needs one finds one.
 */
const MOST_AT_ONCE = 2;

/** RFC 1952: no name, no time, fastest method, no system in particular. */
const HEADER = Buffer.from('1f8b08000000000004ff', 'hex');

/**
 * Makes a function that takes a page over and emits it compressed. The page is released as soon as
 * nothing reads it any more, whoever still listens.
 */
export function zippedPages(
  compress: (pieces: readonly Uint8Array[]) => Promise<Deflated> = deflate,
): (page: Page) => Observable<Page> {
  /** By the list that lasts, so that it goes with it. */
  const known = new WeakMap<readonly Uint8Array[], Observable<Deflated>>();
  const turn = takeTurns(MOST_AT_ONCE);
  const deflated = (page: Page, lasting: readonly Uint8Array[]): Observable<Deflated> => {
    const shared$ = known.get(lasting);
    if (shared$ !== undefined) {
      page.release();
      return shared$;
    }
    const made$ = defer(() => compress(lasting)).pipe(
      turn,
      tap({ error: () => known.delete(lasting) }),
      finalize(() => {
        page.release();
      }),
      // It reads the page to its end even if nobody waits for it: the next scrape finds it done.
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: false,
        resetOnComplete: false,
      }),
    );
    known.set(lasting, made$);
    return made$;
  };
  return (page) =>
    defer(() => {
      const { contentType, pieces, lasting = pieces } = page;
      const fresh = Buffer.concat(pieces.slice(lasting.length));
      return deflated(page, lasting).pipe(
        map((start) => {
          const zipped = [HEADER, ...start.pieces, deflateEnd(start, fresh)];
          const bytes = zipped.reduce((sum, piece) => sum + piece.length, 0);
          return { contentType, pieces: zipped, bytes, release: () => undefined };
        }),
      );
    });
}
