// The offsets of one time zone from UTC, and the moment that a local time means.

/** Longer than any offset from UTC, far shorter than the time between two clock changes. */
const DAY_MS = 86_400_000;
/** A day less than the range of Date. */
const MAX_MS = 8.64e15 - DAY_MS;

export class UtcOffsets {
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
   * The moment at which local clocks show `wall`, both in milliseconds, `wall` as if it were UTC.
   * Of two such moments the first; for a time that the clocks skipped, by the offset before.
   * JavaScript reads local times the same way. NaN beyond the range of Date.
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
