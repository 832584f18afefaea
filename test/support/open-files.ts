// The open files of this process. Tests count those of their own paths only: other files are closed meanwhile, some
// by another thread.
import { readdirSync, readlinkSync } from 'node:fs';

/** The descriptors of this process that refer to a path, or to a deleted file that had the path. */
export function descriptorsOf(...paths: readonly string[]): number[] {
  const links = new Set(paths.flatMap((path) => [path, `${path} (deleted)`]));
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return links.has(readlinkSync(`/proc/self/fd/${fd}`)) ? [Number(fd)] : [];
    } catch {
      return []; // It was the descriptor of the directory listing, which is closed by now.
    }
  });
}
