// Deflate streams, and pages as gzip. The text that the pages of one snapshot share is compressed once. RFC 1951, 1952.
import { constants, crc32, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import { defer, firstValueFrom, throwError } from 'rxjs';
import { bytesOf, joinSmall } from '../../bytes.js';
import { limitConcurrency } from '../../limit-concurrency.js';
import type { Body, Piece } from '../../model.js';
import { joinedCrc } from './crc.js';

/** Level 6 would take twice the time and make pages only a twentieth smaller: docs/performance.md. */
const LEVEL = constants.Z_BEST_SPEED;
const OUTPUT_BYTES = 131_072;
/** The bytes of text in one task. A task takes about 2 ms. */
const TASK_BYTES = 524_288;
/** The maximum number of concurrent tasks. Of libuv's four threads, one may wait on a futex, and one stays free. */
const MAX_TASKS = 2;
/** The number of tasks of one text that run or wait at a time. */
const WAITING_TASKS = 2 * MAX_TASKS;
/** The longest time that a task waits for the tasks before it. */
const MAX_WAIT_MS = 600_000;
/** Options for a few kilobytes: with a larger window, zlib spends most of the time on allocation. */
const SHORT_OPTIONS = { level: LEVEL, windowBits: 12, memLevel: 4, chunkSize: 4096 };

const limited = limitConcurrency(MAX_TASKS, { maxWaitMs: MAX_WAIT_MS });
const NOTHING = new Uint8Array();
const TOO_LATE = throwError(() => new Error('too many pages are being compressed at once'));

/** An empty last block with fixed codes: it has only its end-of-block symbol. */
const END_OF_STREAM = Buffer.from([3, 0]);

/**
 * A deflate block: a piece in the form `deflated`, or a header. Lines need a line feed before them in the stream, since
 * their first match refers to it.
 */
export interface DeflateBlock extends Pick<Piece, 'data' | 'bytes'> {
  /** The CRC-32 of the text. */
  readonly crc: number;
}

/** Whether a piece is a deflate block; otherwise it is text. */
export const isDeflated = <P extends Pick<Piece, 'crc'>>(
  piece: P,
): piece is P & { readonly crc: number } => piece.crc !== undefined;

/** A deflate stream without its end, so that other blocks can follow. */
export interface DeflateStream {
  /** Whole blocks, aligned to a byte; none is marked as the last. */
  readonly buffers: readonly Uint8Array[];
  /** CRC-32 and length of the uncompressed bytes. */
  readonly crc: number;
  readonly bytes: number;
}

/** Compresses a short text, such as a header. */
export function deflateBlockOf(text: Uint8Array): DeflateBlock {
  const data = deflateRawSync(text, { ...SHORT_OPTIONS, finishFlush: constants.Z_SYNC_FLUSH });
  return { data, crc: crc32(text), bytes: text.length };
}

/** The longest text of a stored block. */
const MAX_STORED_BYTES = 65_535;

/** A short text as a block without compression, or compressed if it is longer. */
export function storedBlockOf(text: Uint8Array): DeflateBlock {
  const { length } = text;
  if (length > MAX_STORED_BYTES) return deflateBlockOf(text);
  const header = Buffer.from([
    0,
    length & 0xff,
    length >> 8,
    ~length & 0xff,
    (~length >> 8) & 0xff,
  ]);
  const data = Buffer.concat([header, text]);
  return { data, crc: crc32(text), bytes: length };
}

const LINE_FEED = Buffer.from('\n');

/** Decompresses a piece, unless it is text. */
export function inflated(piece: Piece): Piece {
  if (!isDeflated(piece)) return piece;
  const { buffers } = joined([deflateBlockOf(LINE_FEED), piece]);
  const text = inflateRawSync(Buffer.concat([...buffers, END_OF_STREAM]));
  return { ...piece, data: text.subarray(LINE_FEED.length), crc: undefined };
}

/** A whole stream as one block. */
export const blockOf = ({ buffers, crc, bytes }: DeflateStream): DeflateBlock => ({
  data: Buffer.concat(buffers),
  ...{ crc, bytes },
});

/** Joins blocks in order. */
export function joined(blocks: readonly DeflateBlock[]): DeflateStream {
  let [crc, bytes] = [0, 0];
  for (const block of blocks) {
    crc = joinedCrc(crc, block.crc, block.bytes);
    bytes += block.bytes;
  }
  return { buffers: joinSmall(blocks.map(({ data }) => data)), crc, bytes };
}

/**
 * Compresses buffers in other threads. Large buffers are not copied. No buffer may change until the promise settles.
 */
export async function deflate(
  buffers: readonly Uint8Array[],
  compress = deflateInThread,
): Promise<DeflateStream> {
  const parts: Promise<Uint8Array>[] = [];
  let crc = 0;
  let bytes = 0;
  for (const text of tasksOf(buffers)) {
    const part$ = defer(() => compress(text)).pipe(limited(TOO_LATE));
    const part = firstValueFrom(part$, { defaultValue: NOTHING });
    // `Promise.all` below throws the error. Until then, this handler prevents an unhandled rejection.
    part.catch(() => undefined);
    parts.push(part);
    // Meanwhile, another thread compresses the text.
    crc = crc32(text, crc);
    bytes += text.length;
    // Copy no more text until an earlier task has ended. Then few copies exist at once, and the event loop is not
    // blocked for the whole text.
    await Promise.allSettled(parts.slice(-WAITING_TASKS, 1 - WAITING_TASKS));
  }
  // Wait for all parts even if one fails: after this function returns or throws, no thread may read the buffers.
  await Promise.allSettled(parts);
  return { buffers: await Promise.all(parts), crc, bytes };
}

/** Compresses one part of a text in another thread. */
function deflateInThread(text: Uint8Array): Promise<Uint8Array> {
  const options = { level: LEVEL, chunkSize: OUTPUT_BYTES, finishFlush: constants.Z_FULL_FLUSH };
  return new Promise((resolve, reject) => {
    deflateRaw(text, options, (error, data) => {
      if (error === null) resolve(data);
      else reject(error);
    });
  });
}

/** Joins small buffers and divides large ones, so that each resulting text is the work of one task. */
function* tasksOf(buffers: readonly Uint8Array[]): Generator<Uint8Array, void> {
  let run: Uint8Array[] = [];
  let bytes = 0;
  for (const buffer of buffers) {
    if (bytes > 0 && bytes + buffer.length > TASK_BYTES) {
      yield Buffer.concat(run);
      [run, bytes] = [[], 0];
    }
    if (buffer.length < TASK_BYTES) {
      run.push(buffer);
      bytes += buffer.length;
    } else
      for (let at = 0; at < buffer.length; at += TASK_BYTES)
        yield buffer.subarray(at, at + TASK_BYTES);
  }
  if (bytes > 0) yield Buffer.concat(run);
}

/** The header of a gzip member: RFC 1952, with no name, no time, the fastest method, and no particular system. */
const HEADER = Buffer.from('1f8b08000000000004ff', 'hex');

/** The text of the application metrics of a page. */
export interface GzipInput {
  /** Large buffers are not copied. No buffer may change until the text is compressed. */
  readonly buffers: readonly Uint8Array[];
  /** The same text as a deflate stream, if the kernel compressed it. */
  readonly deflated?: DeflateStream | undefined;
}

/** Compresses the application metrics once, and adds the internal metrics of each page. */
export class GzipText {
  readonly #text: GzipInput;
  readonly #deflate: (text: GzipInput) => Promise<DeflateStream>;
  #deflating: Promise<DeflateStream> | undefined;

  /** @param compress compresses a text that the kernel has not compressed; by default, its buffers */
  constructor(
    text: GzipInput,
    compress: (text: GzipInput) => Promise<DeflateStream> = ({ buffers }) => deflate(buffers),
  ) {
    this.#text = text;
    this.#deflate = compress;
  }

  /**
   * Returns the application metrics and the internal metrics as one gzip member. Returns a promise unless the kernel
   * compressed the text.
   * @param release called when the text may change: once zlib has compressed it, or once the body is released
   */
  body(internal: readonly Uint8Array[], release: () => void): Body | Promise<Body> {
    const last = Buffer.concat(internal);
    try {
      const { deflated } = this.#text;
      if (deflated !== undefined) return member(deflated, last, release);
      if (this.#deflating === undefined) this.#deflating = this.#deflateOnce(release);
      else release();
    } catch (error) {
      release();
      throw error;
    }
    return this.#deflating.then((text) => member(text, last));
  }

  /**
   * Compresses the text once. The compression finishes even if no client waits, since the next page uses the result.
   */
  #deflateOnce(release: () => void): Promise<DeflateStream> {
    const deflating = this.#deflate(this.#text).finally(release);
    deflating.catch(() => {
      this.#deflating = undefined;
    });
    return deflating;
  }
}

/** A gzip member. The internal metrics are its last deflate block. RFC 1952. */
function member(
  { buffers, crc, bytes }: DeflateStream,
  internal: Uint8Array,
  release = (): void => undefined,
): Body {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(internal, crc), 0);
  trailer.writeUInt32LE((bytes + internal.length) % 2 ** 32, 4);
  const all = [HEADER, ...buffers, deflateRawSync(internal, SHORT_OPTIONS), trailer];
  return { buffers: all, bytes: bytesOf(all), release };
}
