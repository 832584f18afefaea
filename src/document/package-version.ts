// The version of this package, and the commit of its build.
import { existsSync, readFileSync } from 'node:fs';

export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The commit in hexadecimal digits; empty for a build outside of a repository. */
export function buildRevision(): string {
  const file = new URL('../revision', import.meta.url);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}
