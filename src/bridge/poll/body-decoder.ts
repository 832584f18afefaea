// Undoes the compression of a body, whichever of the known ones it is.
import type { Transform } from 'node:stream';
import { PassThrough } from 'node:stream';
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { quoted } from '../../document/key-path.js';
import { PollFailure } from './poll-failure.js';

/** The lower half of the first byte of a zlib stream, its method. */
const ZLIB_METHOD = 8;

/**
 * A decoder for a body that begins with `first`. What is called deflate is zlib's format by the
 * standard, and the bare one for some servers.
 * @throws PollFailure `bad_encoding` for a compression that was not asked for
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
