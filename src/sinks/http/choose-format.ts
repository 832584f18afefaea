// Which format a client gets, by its Accept header (RFC 9110, 12.5.1).
import type { Format } from '../../model.js';

/** One entry of such a header, in lower case. */
interface AcceptEntry {
  /** A type such as `text/*`, or a coding such as `gzip`. */
  readonly name: string;
  /** Its parameter of that name. */
  readonly version: string | undefined;
  /** 0 to 1; 0 refuses, and so does a quality that is no number in this range. */
  readonly quality: number;
}

const parseAccept = (header: string): AcceptEntry[] => header.split(',').map(parseAcceptEntry);

/** Parses one entry; parameters other than version and q have no effect here. */
function parseAcceptEntry(text: string): AcceptEntry {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const valueOf = (parameter: string): string | undefined =>
    parameters
      .find((each) => each.startsWith(`${parameter}=`))
      ?.slice(parameter.length + 1)
      .replace(/^"(.*)"$/, '$1');
  const quality = Number(valueOf('q') ?? 1);
  return { name, version: valueOf('version'), quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** Clients with other headers are few; a long header is not kept. */
const MAX_HEADERS = 32;
const MAX_LENGTH = 256;

/** Makes a function that remembers the results of the last short headers. */
export function remembered<T>(of: (header: string) => T): (header: string) => T {
  const known = new Map<string, T>();
  return (header) => {
    const former = known.get(header);
    if (former !== undefined) return former;
    const result = of(header);
    if (header.length > MAX_LENGTH) return result;
    if (known.size === MAX_HEADERS) known.clear();
    known.set(header, result);
    return result;
  };
}

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
