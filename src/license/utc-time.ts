// The times of a license: ISO 8601 in UTC, such as 2026-01-31T00:00:00Z.

const SHAPE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

export const formatUtc = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

/** Parses `text`; undefined if it is not ISO 8601 in UTC. */
export function parseUtc(text: string): Date | undefined {
  if (!SHAPE.test(text)) return undefined;
  const time = new Date(text);
  // The engine turns February 30 into March 2; reject such a date instead.
  const exists =
    !Number.isNaN(time.getTime()) &&
    time.toISOString().startsWith(text.slice(0, 'YYYY-MM-DDThh:mm:ss'.length));
  return exists ? time : undefined;
}
