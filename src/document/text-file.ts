// Reads a file as text: regular files only, within bounds, and nothing that is not UTF-8.
import { isUtf8 } from 'node:buffer';
import { Fault } from '../errors.js';
import { Places } from './places.js';
import { readRegularFile } from './regular-file.js';

const LARGEST = 1024 * 1024;
const REPLACEMENT = '\uFFFD';

/**
 * The text of a file without its byte order mark.
 * @throws Fault CONFIG_INVALID when it cannot be read, is no regular file, is larger than 1 MiB or is
 *   not UTF-8
 */
export function readText(file: string): string {
  const bytes = readRegularFile(file, LARGEST + 1);
  if (bytes.length > LARGEST)
    throw new Fault('CONFIG_INVALID', `${file}: is larger than 1 MiB, which is the limit`);
  if (!isUtf8(bytes)) throw notUtf8(file, bytes);
  return new TextDecoder().decode(bytes);
}

/** Decoding puts U+FFFD for bad bytes; the first one that the file does not hold itself is meant. */
function notUtf8(file: string, bytes: Buffer): Fault {
  const text = bytes.toString('utf8');
  const places = new Places(file, text, () => new Map());
  let byte = 0;
  let from = 0;
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, from)) {
    byte += Buffer.byteLength(text.slice(from, at));
    if (!bytes.subarray(byte, byte + 3).equals(Buffer.from(REPLACEMENT)))
      return new Fault('CONFIG_INVALID', `${places.at(at)}: found bytes that are not UTF-8 text`);
    byte += 3;
    from = at + 1;
  }
  return new Fault('CONFIG_INVALID', `${file}: found bytes that are not UTF-8 text`);
}
