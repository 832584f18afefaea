// Converts times that publishers write as text to Unix seconds, with the offsets of a time zone.

/** A day is longer than any offset from UTC, and far shorter than the time between two clock changes. */
const DAY_MS = 86_400_000;
/** The latest time of `Date`, less a day. */
const MAX_MS = 8.64e15 - DAY_MS;

class UtcOffsets {
  readonly #format: Intl.DateTimeFormat;

  /** @param zone an IANA name that the runtime knows */
  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /**
   * Converts a local time to UTC, both in milliseconds; `wall` is the local time read as if it were UTC.
   * An ambiguous local time means the earlier of its two moments. If the clocks skipped `wall`, the offset before the
   * skip applies. JavaScript reads local times the same way. Returns NaN beyond the range of Date.
   */
  utcOf(wall: number): number {
    if (!(Math.abs(wall) <= MAX_MS)) return NaN;
    const before = wall - this.#offsetAt(wall - DAY_MS);
    const after = wall - this.#offsetAt(wall + DAY_MS);
    const isAfter = !this.#shows(before, wall) && this.#shows(after, wall);
    return isAfter ? after : before;
  }

  #shows(utc: number, wall: number): boolean {
    return utc + this.#offsetAt(utc) === wall;
  }

  #offsetAt(utc: number): number {
    const parts = new Map(
      this.#format.formatToParts(utc).map(({ type, value }) => [type, Number(value)]),
    );
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    const wall = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    );
    return wall - Math.floor(utc / 1000) * 1000;
  }
}

/** Matches an offset (a sign and digits) after the time or at the end, or a zone name that Date.parse knows. */
const OWN_OFFSET =
  /:\d{2}(\.\d+)?\s*[+-]\d|\s[+-]\d{2}:?\d{2}$|(\d|\s|^)(Z|UTC?|GMT|[ECMP][SD]T)(\s|[+-]|$)/i;

/** Matches an unambiguous date: one with the year first, or with the name of the month. */
const CERTAIN_DATE =
  /^[+-]?\d{4,6}([-/])\d{1,2}\1\d{1,2}[T\s]|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

export class PointInTime {
  readonly #zone: string;
  #offsets: UtcOffsets | undefined;

  /** @param zone the time zone of texts without an offset: an IANA name, or '' for the zone of the process */
  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Parses "Thu Nov 19 08:00:00 2026", ISO 8601 or a plain number of seconds. Undefined for any other text. */
  unixSeconds(text: string): number | undefined {
    const trimmed = text.trim();
    if (/^\d{9,11}(\.\d+)?$/.test(trimmed)) return Number(trimmed);
    // Require a date and a clock time, since Date.parse reads "version-12" as a date, and 3/4 as March 4.
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
