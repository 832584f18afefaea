// Which format a client gets, by its Accept header (RFC 9110, 12.5.1).
import type { Format } from '../../model.js';
import { parseAccept, parseAcceptEntry } from './accept-header.js';
import type { AcceptEntry } from './accept-header.js';
import { remembered } from './remembered.js';

/** The first is for clients that prefer none, or accept none of them. */
export type Formats = readonly [Format, ...Format[]];

const entriesOf = remembered(parseAccept);
const entryOf = remembered(parseAcceptEntry);

const PROTOBUF = 'application/vnd.google.protobuf';
const OPEN_METRICS = 'application/openmetrics-text';
/** Below every quality that a client can state: these have three decimals. */
const LAST_RESORT = 1e-4;

/**
 * The format with the highest quality; of equals the first. A Prometheus that reads start timestamps
 * asks for protobuf first. In OpenMetrics it searches each family for `_created` lines once per sample,
 * in quadratic time, so it gets another format that it accepts.
 */
export function chooseFormat(formats: Formats, accept = '*/*'): Format {
  const entries = entriesOf(accept);
  let [best] = formats;
  let highest = 0;
  for (const format of formats) {
    const stated = qualityOf(format, entries);
    const isSlow = isOpenMetrics(format) && prefersProtobuf(entries, stated);
    const quality = isSlow ? Math.min(stated, LAST_RESORT) : stated;
    if (quality <= highest) continue;
    best = format;
    highest = quality;
  }
  return best;
}

const isOpenMetrics = ({ contentType }: Format): boolean =>
  entryOf(contentType).name === OPEN_METRICS;

/** Whether a client names protobuf, with at least this quality. */
const prefersProtobuf = (entries: readonly AcceptEntry[], least: number): boolean =>
  entries.some(({ name, quality }) => name === PROTOBUF && quality > 0 && quality >= least);

/** That of the entry that names the format most exactly; 0 where none does. */
function qualityOf({ contentType }: Format, entries: readonly AcceptEntry[]): number {
  const { name: type, version } = entryOf(contentType);
  const names = ['*/*', type.replace(/\/.*/, '/*'), type];
  let quality = 0;
  let closest = -1;
  for (const entry of entries) {
    if (entry.version !== undefined && entry.version !== version) continue;
    const exactness = names.indexOf(entry.name) * 2 + Number(entry.version !== undefined);
    if (exactness < Math.max(closest, 0)) continue;
    quality = exactness > closest ? entry.quality : Math.max(quality, entry.quality);
    closest = exactness;
  }
  return quality;
}
