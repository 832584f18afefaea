// Pages and replies as one gzip member each; the part of a page that lasts is compressed once.
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import { ReplaySubject, defer, finalize, isObservable, map, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { bytesOf } from '../../bytes.js';
import type { Deflated, Page } from '../../model.js';
import { prefersGzip } from './choose-format.js';
import type { Reply } from './reply.js';

/** Level 6 takes twice the time and saves another twentieth: docs/performance.md. */
const LEVEL = constants.Z_BEST_SPEED;
const OUTPUT_BYTES = 131_072;
/** Text that one thread compresses at once, independently of the rest: some 2 ms. */
const TASK_BYTES = 524_288;
/**
 * Tasks at once. The pool has four threads, of which one may wait on a futex for seconds; this leaves one for
 * everything else.
 */
const MAX_TASKS = 2;
/** For a few kilobytes: with the memory of larger ones, most of the time went into taking that. */
const END_OPTIONS = { level: LEVEL, windowBits: 12, memLevel: 4, chunkSize: 4096 };

/** What is before the end, compressed, is so many times as long: then it is not worth it to compress the end. */
const STORED_SHARE = 128;
/** A stored block has 16 bits for its length. */
const MAX_STORED = 0xffff;

/** Compresses pieces, of which large ones are not copied; they must not change until it is done. */
export async function deflate(
  pieces: readonly Uint8Array[],
  compress = compressed,
): Promise<Deflated> {
  const parts: Promise<Uint8Array>[] = [];
  let crc = 0;
  let bytes = 0;
  for (const text of tasksOf(pieces)) {
    parts.push(limited(() => compress(text)));
    // While it is compressed in another thread.
    crc = crc32(text, crc);
    bytes += text.length;
  }
  // No thread reads the pieces any more once this returns or throws.
  await Promise.allSettled(parts);
  return { pieces: await Promise.all(parts), crc, bytes };
}

/** One part of a stream, in another thread. */
function compressed(text: Uint8Array): Promise<Uint8Array> {
  const options = { level: LEVEL, chunkSize: OUTPUT_BYTES, finishFlush: constants.Z_FULL_FLUSH };
  return new Promise((resolve, reject) => {
    deflateRaw(text, options, (error, data) => {
      if (error === null) resolve(data);
      else reject(error);
    });
  });
}

let running = 0;
const waiting: (() => void)[] = [];

/** Runs a task when fewer than `MAX_TASKS` others run; those that wait are started in order. */
async function limited<T>(task: () => Promise<T>): Promise<T> {
  if (running === MAX_TASKS) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await task();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** Runs of small pieces as one task each, and large ones in parts. */
function* tasksOf(pieces: readonly Uint8Array[]): Generator<Uint8Array, void> {
  let run: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (bytes > 0 && bytes + piece.length > TASK_BYTES) {
      yield Buffer.concat(run);
      [run, bytes] = [[], 0];
    }
    if (piece.length < TASK_BYTES) {
      run.push(piece);
      bytes += piece.length;
    } else
      for (let at = 0; at < piece.length; at += TASK_BYTES)
        yield piece.subarray(at, at + TASK_BYTES);
  }
  if (bytes > 0) yield Buffer.concat(run);
}

/**
 * Adds the last few bytes, and CRC-32 and length of everything. They are compressed synchronously, unless what is
 * before them is so long that this would take more time than to send them as they are.
 */
export function deflateEnd({ pieces, crc, bytes }: Deflated, end: Uint8Array): Uint8Array {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(end, crc), 0);
  trailer.writeUInt32LE((bytes + end.length) % 2 ** 32, 4);
  const isStored = end.length * STORED_SHARE <= bytesOf(pieces) && end.length <= MAX_STORED;
  const last = isStored ? [storedHead(end.length), end] : [deflateRawSync(end, END_OPTIONS)];
  return Buffer.concat([...last, trailer]);
}

/** The head of a last block that is stored: RFC 1951, 3.2.4. It begins at a byte. */
function storedHead(length: number): Uint8Array {
  const head = Buffer.alloc(5, 1);
  head.writeUInt16LE(length, 1);
  head.writeUInt16LE(MAX_STORED - length, 3);
  return head;
}

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
