// Reads regular files of bounded size as UTF-8 text, and explains system errors.
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { Fault, codeOf, messageOf } from '../errors.js';
import { SourcePositions } from './document.js';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission denied',
  EEXIST: 'it exists already',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file would exceed its size limit',
  EPIPE: 'its reader has closed it',
  EROFS: 'its file system is read-only',
  ENXIO: 'it is a socket',
  EIO: 'input/output error',
};

/** Returns the reason of a failed system call, without the path: the caller's message names the file. */
export function systemReason(cause: unknown): string {
  return REASONS[codeOf(cause)] ?? messageOf(cause);
}

/** Flags of open(2). O_NONBLOCK opens a pipe without waiting for its writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const CHUNK_BYTES = 65_536;
const KIB = 1024;

interface FileReading {
  readonly maxBytes: number;
  /** Called before a regular file is read; throws to refuse the file. */
  readonly inspect?: (stats: Stats) => void;
  /**
   * Makes the fault from a clause such as `is a folder`.
   * @param place the file, or a position in it
   * @param cause the system's error, if there is one
   */
  readonly refusal?: (place: string, clause: string, cause?: unknown) => Fault;
}

const configFault = (place: string, clause: string): Fault =>
  new Fault('CONFIG_INVALID', `${place}: ${clause}`);

/**
 * Reads a file to its end, not to its size: stat(2) reports a size of 0 for files under /proc.
 * @throws Fault of `refusal` if the file cannot be read, is not regular, or is larger than `maxBytes`
 */
export function readRegularFile(file: string, reading: FileReading): Buffer {
  const { maxBytes, refusal = configFault } = reading;
  try {
    const bytes = readWhole(file, reading);
    if (bytes.length <= maxBytes) return bytes;
    throw refusal(file, `is larger than the limit of ${sizeText(maxBytes)}`);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw refusal(file, `cannot be read: ${systemReason(cause)}`, cause);
  }
}

function readWhole(
  file: string,
  { maxBytes, inspect, refusal = configFault }: FileReading,
): Buffer {
  const descriptor = openSync(file, OPEN_FLAGS);
  try {
    const stats = fstatSync(descriptor);
    const kind = kindOf(stats);
    if (kind !== undefined) throw refusal(file, `is ${kind}, needed: a regular file`);
    inspect?.(stats);
    return readUpTo(descriptor, maxBytes + 1);
  } finally {
    closeSync(descriptor);
  }
}

function readUpTo(descriptor: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let length = 0; length < maxBytes;) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, maxBytes - length));
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    length += count;
  }
  return Buffer.concat(chunks);
}

/** The kind of a file that is not regular. */
function kindOf(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return 'a folder';
  return stats.isFIFO() ? 'a pipe' : 'a device';
}

function sizeText(bytes: number): string {
  if (bytes % KIB !== 0) return `${bytes} bytes`;
  return bytes % (KIB * KIB) === 0 ? `${bytes / KIB / KIB} MiB` : `${bytes / KIB} KiB`;
}

const MAX_BYTES = 1024 * 1024;
const REPLACEMENT = '\uFFFD';

/**
 * Reads the text of a file without its byte order mark. The default limit is 1 MiB.
 * @throws Fault of `refusal` (by default CONFIG_INVALID) if the file cannot be read, is not regular, is too large or
 *   is not UTF-8
 */
export function readText(file: string, reading: Partial<FileReading> = {}): string {
  const bytes = readRegularFile(file, { maxBytes: MAX_BYTES, ...reading });
  if (!isUtf8(bytes)) throw notUtf8(file, bytes, reading.refusal ?? configFault);
  return new TextDecoder().decode(bytes);
}

/**
 * The fault at the first invalid byte. A U+FFFD in the decoded text replaces invalid bytes, or is a character of the
 * file.
 */
function notUtf8(file: string, bytes: Buffer, refusal: NonNullable<FileReading['refusal']>): Fault {
  const clause = 'has bytes that are not UTF-8 text';
  const text = bytes.toString('utf8');
  const places = new SourcePositions(file, text, () => new Map());
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
