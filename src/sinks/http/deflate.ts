// Compresses bytes in the threads of libuv's pool, into a part of a gzip member (RFC 1951, 1952).
import { pipeline } from 'node:stream/promises';
import type { Deflated } from '../../model.js';
import { constants, crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

/** Level 6 takes twice the time and saves another twentieth: docs/performance.md. */
const LEVEL = constants.Z_BEST_SPEED;
/** One task for the pool: large enough to be worth it, small enough to let other tasks in between. */
const TASK_BYTES = 131_072;
const OUTPUT_BYTES = 65_536;
/** For a few kilobytes: with the memory of larger ones, most of the time went into taking that. */
const END_OPTIONS = { level: LEVEL, windowBits: 12, memLevel: 4, chunkSize: 4096 };

/** Compresses pieces without copying them; they must not change until it is done. */
export async function deflate(pieces: readonly Uint8Array[]): Promise<Deflated> {
  const result: Uint8Array[] = [];
  let crc = 0;
  let bytes = 0;
  function* tasks(): Generator<Uint8Array> {
    for (const piece of pieces)
      for (let at = 0; at < piece.length; at += TASK_BYTES) {
        const task = piece.subarray(at, at + TASK_BYTES);
        crc = crc32(task, crc);
        bytes += task.length;
        yield task;
      }
  }
  const options = { level: LEVEL, chunkSize: OUTPUT_BYTES, finishFlush: constants.Z_FULL_FLUSH };
  await pipeline(tasks(), createDeflateRaw(options), async (outputs: AsyncIterable<Buffer>) => {
    for await (const output of outputs) result.push(output);
  });
  return { pieces: result, crc, bytes };
}

/** Compresses the last few bytes synchronously, and adds CRC-32 and length of everything. */
export function deflateEnd({ crc, bytes }: Deflated, end: Uint8Array): Uint8Array {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(end, crc), 0);
  trailer.writeUInt32LE((bytes + end.length) % 2 ** 32, 4);
  return Buffer.concat([deflateRawSync(end, END_OPTIONS), trailer]);
}
