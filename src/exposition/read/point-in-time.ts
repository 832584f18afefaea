// The text of a point in time, as management worlds write it, as Unix seconds.

/** Seconds of "Thu Nov 19 08:00:00 2026", ISO 8601 or a plain number of seconds; else undefined. */
export function unixSeconds(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^\d{9,11}(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  // Only what names a year and a clock time: Date.parse takes "version-12" for a date.
  if (!/\d{4}/.test(trimmed) || !/\d{1,2}:\d{2}/.test(trimmed)) return undefined;
  const milliseconds = Date.parse(trimmed);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}
