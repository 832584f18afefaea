// Chooses the format and the content coding of a response from the request headers (RFC 9110, 12.5).
import { memoize } from '../../exposition/memoize.js';
import type { Format } from '../../model.js';

/** An entry of an Accept or Accept-Encoding header, in lower case. */
interface AcceptEntry {
  /** A media type such as `text/*`, or a coding such as `gzip`. */
  readonly name: string;
  /** The parameters that select a format of this media type. */
  readonly selectors: ReadonlyMap<string, string>;
  /** The quality from 0 to 1; 0 means "not acceptable". An invalid quality counts as 0. */
  readonly quality: number;
}

const parseAccept = (header: string): AcceptEntry[] => header.split(',').map(parseAcceptEntry);

/** The parameters that distinguish formats of one media type. `proto` and `encoding` belong to protobuf. */
const SELECTORS = ['version', 'proto', 'encoding'];

/** Parses one entry. Ignores all parameters except `q` and `SELECTORS`. */
function parseAcceptEntry(text: string): AcceptEntry {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const valueOf = (parameter: string): string | undefined =>
    parameters
      .find((each) => each.startsWith(`${parameter}=`))
      ?.slice(parameter.length + 1)
      .replace(/^"(.*)"$/, '$1');
  const quality = Number(valueOf('q') ?? 1);
  const selectors = new Map<string, string>();
  for (const selector of SELECTORS) {
    const value = valueOf(selector);
    if (value !== undefined) selectors.set(selector, value);
  }
  return { name, selectors, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** The formats of a response. The first is the default. */
export type Formats = readonly [Format, ...Format[]];

const PROTOBUF = 'application/vnd.google.protobuf';
const OPEN_METRICS = 'application/openmetrics-text';
/** Lower than any positive quality in a header: RFC 9110 allows at most three decimals there. */
const LAST_RESORT = 1e-4;

/**
 * Returns the format with the highest quality; on a tie, the first. A client that prefers protobuf, in any encoding,
 * gets OpenMetrics only if it accepts no other format. Prometheus prefers protobuf if it reads start timestamps. With
 * OpenMetrics, it would then search the whole family for a `_created` line at each sample, which takes quadratic time.
 */
export function chooseFormat(formats: Formats, accept = '*/*'): Format {
  const entries = parseAccept(accept);
  let [best] = formats;
  let highest = 0;
  for (const format of formats) {
    const stated = qualityOf(format, entries);
    const isSlow = isOpenMetrics(format) && acceptsProtobuf(entries, stated);
    const quality = isSlow ? Math.min(stated, LAST_RESORT) : stated;
    if (quality <= highest) continue;
    best = format;
    highest = quality;
  }
  return best;
}

const mediaTypeOf = memoize(({ contentType }: Format) => parseAcceptEntry(contentType));

const isOpenMetrics = (format: Format): boolean => mediaTypeOf(format).name === OPEN_METRICS;

/** Whether a client accepts protobuf with at least the quality `least`. */
const acceptsProtobuf = (entries: readonly AcceptEntry[], least: number): boolean =>
  entries.some(({ name, quality }) => name === PROTOBUF && quality > 0 && quality >= least);

/**
 * The quality of the entry that matches the format most specifically; 0 if none matches. Wildcards do not match
 * protobuf: a client that does not name it may expect text.
 */
function qualityOf(format: Format, entries: readonly AcceptEntry[]): number {
  const { name: type, selectors } = mediaTypeOf(format);
  const names = type === PROTOBUF ? [type] : ['*/*', type.replace(/\/.*/, '/*'), type];
  let quality = 0;
  let closest = -1;
  for (const entry of entries) {
    if ([...entry.selectors].some(([key, value]) => selectors.get(key) !== value)) continue;
    const exactness = names.indexOf(entry.name) * 2 + Number(entry.selectors.size > 0);
    if (exactness < Math.max(closest, 0)) continue;
    quality = exactness > closest ? entry.quality : Math.max(quality, entry.quality);
    closest = exactness;
  }
  return quality;
}

/** Whether an Accept-Encoding header accepts gzip and prefers no other coding. */
export function prefersGzip(acceptEncoding = ''): boolean {
  const codings = parseAccept(acceptEncoding);
  const qualityOf = (...names: readonly string[]): number => {
    const named = codings.filter(({ name }) => names.includes(name));
    const matching = named.length > 0 ? named : codings.filter(({ name }) => name === '*');
    return Math.max(0, ...matching.map(({ quality }) => quality));
  };
  const gzip = qualityOf('gzip', 'x-gzip');
  return gzip > 0 && gzip >= qualityOf('identity');
}
