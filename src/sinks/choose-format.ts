// Which format a client gets, by its Accept header (RFC 9110, 12.5.1).
import type { Format } from '../model.js';

/** The first is for clients that have no wish, or none that can be met. */
export type Formats = readonly [Format, ...Format[]];

/** One entry of an Accept header: a type such as `text/*`, its parameters, and how it is liked. */
interface Range {
  readonly type: string;
  readonly version: string | undefined;
  /** 0 to 1; 0 is a refusal. */
  readonly quality: number;
}

/** The format that is liked best; of equals the first. */
export function chooseFormat(formats: Formats, accept = '*/*'): Format {
  const ranges = accept.split(',').map(rangeOf);
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
function qualityOf({ contentType }: Format, ranges: readonly Range[]): number {
  const { type, version } = rangeOf(contentType);
  const wider = ['*/*', type.replace(/\/.*/, '/*'), type];
  let quality = 0;
  let closest = -1;
  for (const range of ranges) {
    if (range.version !== undefined && range.version !== version) continue;
    const exactness = wider.indexOf(range.type) * 2 + Number(range.version !== undefined);
    if (exactness < Math.max(closest, 0)) continue;
    quality = exactness > closest ? range.quality : Math.max(quality, range.quality);
    closest = exactness;
  }
  return quality;
}

/** Reads an entry; parameters other than version and q do not matter to us. */
function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const valueOf = (name: string): string | undefined =>
    parameters
      .find((parameter) => parameter.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .replace(/^"(.*)"$/, '$1');
  const quality = Number(valueOf('q') ?? 1);
  return { type, version: valueOf('version'), quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
