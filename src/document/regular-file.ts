// Reads the files that a user names: only regular ones, within a bound and without waiting.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { Fault } from '../errors.js';
import { systemReason } from './system-reason.js';

/** Opening does not wait for the writer of a pipe: a reload could not read a pipe again anyway. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;
const CHUNK_BYTES = 65_536;
const KIB = 1024;

/** How a file is read, and how a rejection is reported. */
export interface Reading {
  readonly maxBytes: number;
  /** Throws for a regular file that must not be read. */
  readonly inspect?: (stats: Stats) => void;
  /**
   * The fault for a clause such as `is a folder`; `place` is the file, or a position in it; `cause` is
   * the system's error, if there is one.
   */
  readonly refusal?: (place: string, clause: string, cause?: unknown) => Fault;
}

export const configFault = (place: string, clause: string): Fault =>
  new Fault('CONFIG_INVALID', `${place}: ${clause}`);

/**
 * The bytes of a file. Files under /proc have a size of 0, whatever their content.
 * @throws Fault of `refusal` when it cannot be read, is no regular file, or is larger than
 *   `maxBytes`
 */
export function readRegularFile(file: string, reading: Reading): Buffer {
  const { maxBytes, refusal = configFault } = reading;
  try {
    const bytes = readWhole(file, reading);
    if (bytes.length <= maxBytes) return bytes;
    throw refusal(file, `is larger than ${sizeText(maxBytes)}, which is the limit`);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw refusal(file, `cannot be read: ${systemReason(cause)}`, cause);
  }
}

function readWhole(file: string, { maxBytes, inspect, refusal = configFault }: Reading): Buffer {
  const descriptor = openSync(file, AT_ONCE);
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
