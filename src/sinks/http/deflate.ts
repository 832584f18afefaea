// Compresses bytes in the threads of libuv's pool, into a part of a gzip member (RFC 1951, 1952).
import { bytesOf } from '../../bytes.js';
import type { Deflated } from '../../model.js';
import { constants, crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

/** Level 6 takes twice the time and saves another twentieth: docs/performance.md. */
const LEVEL = constants.Z_BEST_SPEED;
/**
 * One task for the pool: small enough to let other tasks in between. To hand one over takes as long as
 * to compress 32 KiB.
 */
const TASK_BYTES = 262_144;
const OUTPUT_BYTES = 131_072;
/** For a few kilobytes: with the memory of larger ones, most of the time went into taking that. */
const END_OPTIONS = { level: LEVEL, windowBits: 12, memLevel: 4, chunkSize: 4096 };

/** What is before the end, compressed, is so many times as long: then it is not worth it to compress the end. */
const STORED_SHARE = 128;
/** A stored block has 16 bits for its length. */
const MAX_STORED = 0xffff;

/** Compresses pieces, of which large ones are not copied; they must not change until it is done. */
export function deflate(pieces: readonly Uint8Array[]): Promise<Deflated> {
  return new Promise((resolve, reject) => {
    const options = { level: LEVEL, chunkSize: OUTPUT_BYTES, finishFlush: constants.Z_FULL_FLUSH };
    const stream = createDeflateRaw(options);
    const result: Uint8Array[] = [];
    let crc = 0;
    let bytes = 0;
    const tasks = tasksOf(pieces);
    // A pipeline took as long as the compression of a megabyte.
    const next = (error?: Error | null): void => {
      if (error) return;
      const { done, value } = tasks.next();
      if (done === true) {
        stream.end();
        return;
      }
      stream.write(value, next);
      // While it is compressed in another thread.
      crc = crc32(value, crc);
      bytes += value.length;
    };
    stream.on('data', (output: Uint8Array) => result.push(output));
    stream.on('error', reject);
    stream.on('end', () => {
      resolve({ pieces: result, crc, bytes });
    });
    next();
  });
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

/** An empty block, marked as the last: RFC 1951, 3.2.6. */
const LAST_BLOCK = Buffer.from([3, 0]);

/**
 * Adds the last few bytes, and CRC-32 and length of everything. They are compressed synchronously, unless what is
 * before them is so long that this would take more time than to send them as they are.
 * @param ready makes them as more of the stream, where that is sooner done than by zlib
 */
export function deflateEnd(
  { pieces, crc, bytes }: Deflated,
  end: Uint8Array,
  ready: () => Deflated | undefined = () => undefined,
): Uint8Array {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(end, crc), 0);
  trailer.writeUInt32LE((bytes + end.length) % 2 ** 32, 4);
  const isStored = end.length * STORED_SHARE <= bytesOf(pieces) && end.length <= MAX_STORED;
  const last = isStored ? [storedHead(end.length), end] : compressed(end, ready());
  return Buffer.concat([...last, trailer]);
}

const compressed = (end: Uint8Array, ready: Deflated | undefined): readonly Uint8Array[] =>
  ready === undefined ? [deflateRawSync(end, END_OPTIONS)] : [...ready.pieces, LAST_BLOCK];

/** The head of a last block that is stored: RFC 1951, 3.2.4. It begins at a byte. */
function storedHead(length: number): Uint8Array {
  const head = Buffer.alloc(5, 1);
  head.writeUInt16LE(length, 1);
  head.writeUInt16LE(MAX_STORED - length, 3);
  return head;
}
