// The hash of the current commit; empty outside of a repository.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export function revision() {
  // Ignore a repository in a parent folder: an unpacked release does not belong to it.
  if (!existsSync('.git')) return '';
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return '';
  }
}
