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
/** Lower than any quality that a client can state, which has at most three decimals. */
const LAST_RESORT = 1e-4;

/**
 * Returns the format with the highest quality, the first of equal ones. A Prometheus that reads start timestamps
 * prefers protobuf. In OpenMetrics it would search each family for `_created` lines once per sample, in quadratic
 * time, so it gets another format that it accepts.
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

/** Whether a client accepts protobuf with at least this quality. */
const prefersProtobuf = (entries: readonly AcceptEntry[], least: number): boolean =>
  entries.some(({ name, quality }) => name === PROTOBUF && quality > 0 && quality >= least);

/** The quality of the entry that matches the format most specifically; 0 if none matches. */
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
