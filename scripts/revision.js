// The commit that is built, in hexadecimal digits; empty outside of a repository.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export function revision() {
  // A repository around an unpacked release is not the one that it was made from.
  if (!existsSync('.git')) return '';
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return '';
  }
}
