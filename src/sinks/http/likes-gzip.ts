// Whether a client gets gzip, by its Accept-Encoding header (RFC 9110, 12.5.3).
import { accepted } from './accepted.js';

/** Whether it accepts gzip and likes nothing else better; a client that says nothing gets none. */
export function likesGzip(acceptEncoding = ''): boolean {
  const codings = accepted(acceptEncoding);
  const qualityOf = (...names: readonly string[]): number => {
    const named = codings.filter(({ name }) => names.includes(name));
    const meant = named.length > 0 ? named : codings.filter(({ name }) => name === '*');
    return Math.max(0, ...meant.map(({ quality }) => quality));
  };
  const gzip = qualityOf('gzip', 'x-gzip');
  return gzip > 0 && gzip >= qualityOf('identity');
}
