// Reads the bytes of regular files, within bounds and without waiting for anybody.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { Fault, messageOf } from '../errors.js';

/** Without waiting for whoever writes to a pipe: a reload could not read it again anyway. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The first `most` bytes of a file at most. Files under /proc have a size of 0, whatever they hold.
 * @param inspect throws for a regular file that is not to be read
 * @throws Fault CONFIG_INVALID when it cannot be read or is no regular file
 */
export function readRegularFile(
  file: string,
  most: number,
  inspect: (stats: Stats) => void = () => undefined,
): Buffer {
  try {
    const descriptor = openSync(file, AT_ONCE);
    try {
      const stats = fstatSync(descriptor);
      const kind = kindOf(stats);
      if (kind !== undefined)
        throw new Fault('CONFIG_INVALID', `${file}: is ${kind}, needed is a regular file`);
      inspect(stats);
      const bytes = Buffer.alloc(most);
      let length = 0;
      for (let count = -1; count !== 0 && length < most; length += count)
        count = readSync(descriptor, bytes, length, most - length, null);
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
