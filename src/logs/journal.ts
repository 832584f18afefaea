// Whether the journal of systemd reads what a descriptor gets.
import { fstatSync } from 'node:fs';

/**
 * @param stream the variable JOURNAL_STREAM, which has device and inode of the journal's socket
 *   (systemd.exec(5)); a descriptor that was redirected since is another file
 */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
