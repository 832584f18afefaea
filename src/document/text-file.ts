// Reads a file as text: regular files only, within bounds, and nothing that is not UTF-8.
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { Fault, messageOf } from '../errors.js';
import { Places } from './places.js';

const LARGEST = 1024 * 1024;
const REPLACEMENT = '\uFFFD';

/**
 * The text of a file without its byte order mark.
 * @throws Fault CONFIG_INVALID when it cannot be read, is no regular file, is larger than 1 MiB or is
 *   not UTF-8
 */
export function readText(file: string): string {
  const bytes = readBytes(file);
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

/** Without waiting for whoever writes to a pipe: a reload could not read it again anyway. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** At most one byte more than the limit: files under /proc have a size of 0, whatever they hold. */
function readBytes(file: string): Buffer {
  try {
    const descriptor = openSync(file, AT_ONCE);
    try {
      const kind = kindOf(fstatSync(descriptor));
      if (kind !== undefined)
        throw new Fault('CONFIG_INVALID', `${file}: is ${kind}, needed is a regular file`);
      const bytes = Buffer.alloc(LARGEST + 1);
      let length = 0;
      for (let count = -1; count !== 0 && length < bytes.length; length += count)
        count = readSync(descriptor, bytes, length, bytes.length - length, null);
      return bytes.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault('CONFIG_INVALID', `${file}: cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** What a file is instead of a regular one. */
function kindOf(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return 'a folder';
  return stats.isFIFO() ? 'a pipe' : 'a device';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'permission denied',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENXIO: 'it is a socket',
};

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? messageOf(cause);
}
