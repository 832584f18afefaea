// Decompresses a body in any of the known encodings.
import type { Transform } from 'node:stream';
import { PassThrough } from 'node:stream';
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { quoted } from '../../document/key-path.js';
import { PollFailure } from './poll-failure.js';

/** The lower half of the first byte of a zlib stream, its method. */
const ZLIB_METHOD = 8;

/**
 * A decoder for a body that begins with `first`. By the standard `deflate` means the zlib format,
 * but some servers send raw deflate.
 * @throws PollFailure `bad_encoding` for an encoding that was not requested
 */
export function bodyDecoder(encoding: string | undefined, first: Uint8Array): Transform {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return new PassThrough();
  if (name === 'gzip' || name === 'x-gzip') return createGunzip();
  if (name === 'deflate')
    return ((first[0] ?? 0) & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw();
  throw new PollFailure(
    'bad_encoding',
    `the body is encoded as ${quoted(name)}, known are deflate and gzip`,
  );
}
