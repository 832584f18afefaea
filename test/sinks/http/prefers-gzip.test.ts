// Which clients get gzip, by their Accept-Encoding header (RFC 9110, 12.5.3).
import { expect } from 'chai';
import { prefersGzip } from '#app/sinks/http/choose-format.js';

describe('prefersGzip', () => {
  const table: readonly (readonly [string, string | undefined, boolean])[] = [
    ['nothing said', undefined, false],
    ['nothing wanted', '', false],
    ['Prometheus', 'gzip', true],
    ['curl --compressed', 'deflate, gzip, br, zstd', true],
    ['a browser', 'gzip, deflate, br;q=1.0', true],
    ['the old name', 'x-gzip', true],
    ['other case and blanks', ' GZip ; Q=0.5 ', true],
    ['anything', '*', true],
    ['anything, a little', '*;q=0.001', true],
    ['nothing but identity', 'identity', false],
    ['others only', 'br, deflate', false],
    ['gzip refused', 'gzip;q=0', false],
    ['gzip refused, with three digits', 'gzip;q=0.000', false],
    ['gzip refused by its exact name before the wider one', 'gzip;q=0, *', false],
    ['all refused', '*;q=0', false],
    ['all refused but gzip', '*;q=0, gzip', true],
    ['identity refused', 'identity;q=0, gzip;q=0.1', true],
    ['identity refused and nothing else named', 'identity;q=0', false],
    ['both refused: a page that can perhaps be read', 'identity;q=0, gzip;q=0', false],
    ['identity preferred', 'identity, gzip;q=0.5', false],
    ['gzip preferred', 'identity;q=0.5, gzip', true],
    ['both alike', 'identity, gzip', true],
    ['all others preferred', 'gzip;q=0.1, *;q=0.5', false],
    ['either name', 'gzip;q=0, x-gzip;q=0.5', true],
    ['a quality that is none', 'gzip;q=x', false],
    ['a quality out of range', 'gzip;q=7', false],
    ['a name that only begins alike', 'gzipped', false],
    ['nonsense', ';;,=,/;q', false],
  ];
  for (const [sentence, header, wanted] of table)
    it(`${sentence}: ${wanted ? 'gzip' : 'as it is'}`, () =>
      expect(prefersGzip(header)).to.equal(wanted));
});
