// What a process has in its memory, and its number in its own PID namespace. proc(5).
import { closeSync, openSync, readSync } from 'node:fs';
import { namesIn } from './listing.js';

const MAPS_BYTES = 2 ** 22;
/** The most threads that are asked for the memory of their process. */
const MAX_THREADS = 64;

/** Perhaps: this user may not see it, and nothing speaks against it. */
export type Certainty = 'yes' | 'perhaps' | 'no';

export interface MappedFile {
  /** As maps have it; undefined where they may have another one than stat. */
  readonly device: string | undefined;
  readonly inode: bigint;
}

/** The number of a process in the innermost of its PID namespaces. */
export const insideNumberOf = (status: string): string | undefined =>
  /^NSpid:.*?(\d+)$/m.exec(status)?.[1];

/**
 * Whether a process has a file in its memory; its first thread has no memory any more once it ended.
 * @param path of the process in /proc
 * @param word is in the path of the file, as the process sees it
 */
export function hasMapped(path: string, file: MappedFile, word = ''): Certainty {
  try {
    const answer = hasInMaps(`${path}/maps`, file, word);
    if (answer !== undefined) return answer;
    for (const thread of namesIn(`${path}/task`).slice(0, MAX_THREADS)) {
      const its = hasInMaps(`${path}/task/${thread}/maps`, file, word);
      if (its !== undefined) return its;
    }
    return 'no';
  } catch {
    return 'perhaps';
  }
}

/** Undefined for no memory at all. @throws Error for memory that this user may not see */
function hasInMaps(
  path: string,
  { device, inode }: MappedFile,
  word: string,
): Certainty | undefined {
  const bytes = Buffer.alloc(65_536);
  const wanted = ` ${inode} `;
  const isIt = (line: string): boolean =>
    line.includes(wanted) &&
    line.includes(word) &&
    (device === undefined || line.includes(` ${device} `));
  const fd = openSync(path, 'r');
  try {
    let rest = '';
    for (let total = 0; total < MAPS_BYTES;) {
      const read = readSync(fd, bytes);
      if (read === 0) return total === 0 ? undefined : 'no';
      total += read;
      const lines = `${rest}${bytes.toString('latin1', 0, read)}`.split('\n');
      rest = lines.pop() ?? '';
      if (lines.some(isIt)) return 'yes';
    }
    return 'perhaps';
  } finally {
    closeSync(fd);
  }
}
