// Whose files are believed.
import { getuid } from 'node:process';

/** Whether the files of a user are believed: with no owners those of all, else those of root and this process, too. */
export function trusting(owners: readonly number[] = []): (uid: number) => boolean {
  const trusted = new Set([0, getuid?.() ?? 0, ...owners]);
  return (uid) => owners.length === 0 || trusted.has(uid);
}
