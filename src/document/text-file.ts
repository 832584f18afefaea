// Reads a file as text: a regular file, within a bound, in UTF-8.
import { isUtf8 } from 'node:buffer';
import type { Fault } from '../errors.js';
import { Places } from './places.js';
import { configFault, readRegularFile } from './regular-file.js';
import type { Reading } from './regular-file.js';

const MAX_BYTES = 1024 * 1024;
const REPLACEMENT = '\uFFFD';

/**
 * The text of a file without its byte order mark. By default it may have 1 MiB.
 * @throws Fault of `refusal` (by default CONFIG_INVALID) when it cannot be read, is no regular file, is
 *   too large or is not UTF-8
 */
export function readText(file: string, reading: Partial<Reading> = {}): string {
  const bytes = readRegularFile(file, { maxBytes: MAX_BYTES, ...reading });
  if (!isUtf8(bytes)) throw notUtf8(file, bytes, reading.refusal ?? configFault);
  return new TextDecoder().decode(bytes);
}

/**
 * Decoding replaces invalid bytes by U+FFFD; finds the first one that is not in the file itself.
 */
function notUtf8(file: string, bytes: Buffer, refusal: NonNullable<Reading['refusal']>): Fault {
  const clause = 'has bytes that are not UTF-8 text';
  const text = bytes.toString('utf8');
  const places = new Places(file, text, () => new Map());
  let byte = 0;
  let from = 0;
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, from)) {
    byte += Buffer.byteLength(text.slice(from, at));
    if (!bytes.subarray(byte, byte + 3).equals(Buffer.from(REPLACEMENT)))
      return refusal(places.at(at), clause);
    byte += 3;
    from = at + 1;
  }
  return refusal(file, clause);
}
