// Whether a client gets gzip, by its Accept-Encoding header (RFC 9110, 12.5.3).
import { parseAccept } from './accept-header.js';
import { remembered } from './remembered.js';

/** Whether it accepts gzip and prefers nothing else; a client that says nothing gets none. */
export const prefersGzip = (acceptEncoding = ''): boolean => isBest(acceptEncoding);

const isBest = remembered((acceptEncoding: string): boolean => {
  const codings = parseAccept(acceptEncoding);
  const qualityOf = (...names: readonly string[]): number => {
    const named = codings.filter(({ name }) => names.includes(name));
    const matching = named.length > 0 ? named : codings.filter(({ name }) => name === '*');
    return Math.max(0, ...matching.map(({ quality }) => quality));
  };
  const gzip = qualityOf('gzip', 'x-gzip');
  return gzip > 0 && gzip >= qualityOf('identity');
});
