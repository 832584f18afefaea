// Which format a client gets, by its Accept header (RFC 9110, 12.5.1).
import type { Format } from '../../model.js';
import { accepted, acceptedEntry } from './accepted.js';
import type { Accepted } from './accepted.js';

/** The first is for clients that have no wish, or none that can be met. */
export type Formats = readonly [Format, ...Format[]];

/** The format that is liked best; of equals the first. */
export function chooseFormat(formats: Formats, accept = '*/*'): Format {
  const ranges = accepted(accept);
  let [best] = formats;
  let most = 0;
  for (const format of formats) {
    const quality = qualityOf(format, ranges);
    if (quality <= most) continue;
    best = format;
    most = quality;
  }
  return best;
}

/** That of the entry that names the format most exactly; 0 where none does. */
function qualityOf({ contentType }: Format, ranges: readonly Accepted[]): number {
  const { name: type, version } = acceptedEntry(contentType);
  const wider = ['*/*', type.replace(/\/.*/, '/*'), type];
  let quality = 0;
  let closest = -1;
  for (const range of ranges) {
    if (range.version !== undefined && range.version !== version) continue;
    const exactness = wider.indexOf(range.name) * 2 + Number(range.version !== undefined);
    if (exactness < Math.max(closest, 0)) continue;
    quality = exactness > closest ? range.quality : Math.max(quality, range.quality);
    closest = exactness;
  }
  return quality;
}
