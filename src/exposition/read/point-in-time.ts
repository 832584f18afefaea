// Converts times that publishers write as text to Unix seconds.
import { UtcOffsets } from './utc-offsets.js';

/** A sign and digits after the clock or at the end, or the name of a zone that Date.parse knows. */
const OWN_OFFSET =
  /:\d{2}(\.\d+)?\s*[+-]\d|\s[+-]\d{2}:?\d{2}$|(\d|\s|^)(Z|UTC?|GMT|[ECMP][SD]T)(\s|[+-]|$)/i;

/** An unambiguous date: with the year first, or with the name of the month. */
const CERTAIN_DATE =
  /^[+-]?\d{4,6}([-/])\d{1,2}\1\d{1,2}[T\s]|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

export class PointInTime {
  readonly #zone: string;
  #offsets: UtcOffsets | undefined;

  /** @param zone of texts without an offset: an IANA name, or '' for the zone of the process */
  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Seconds of "Thu Nov 19 08:00:00 2026", ISO 8601 or a plain number of seconds; else undefined. */
  unixSeconds(text: string): number | undefined {
    const trimmed = text.trim();
    if (/^\d{9,11}(\.\d+)?$/.test(trimmed)) return Number(trimmed);
    // Only texts with a date and a clock time: Date.parse takes "version-12" for a date, and 3/4 for March 4.
    if (!/\d{4}/.test(trimmed) || !/\d{1,2}:\d{2}/.test(trimmed)) return undefined;
    if (!CERTAIN_DATE.test(trimmed)) return undefined;
    const milliseconds = this.#parse(trimmed);
    return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
  }

  #parse(text: string): number {
    if (this.#zone === '' || OWN_OFFSET.test(text)) return Date.parse(text);
    const isIso = /^\d{4}-\d{2}-\d{2}T/.test(text);
    const wall = Date.parse(`${text}${isIso ? 'Z' : ' UTC'}`);
    if (Number.isNaN(wall)) return wall;
    this.#offsets ??= new UtcOffsets(this.#zone);
    return this.#offsets.utcOf(wall);
  }
}
