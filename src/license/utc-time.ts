// Times as a license writes them: ISO 8601 in UTC, such as 2026-01-31T00:00:00Z.

const SHAPE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

export const formatUtc = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

/** The time that `text` states, or undefined when it is not ISO 8601 in UTC. */
export function parseUtc(text: string): Date | undefined {
  if (!SHAPE.test(text)) return undefined;
  const time = new Date(text);
  // The engine turns February 30 into March 2; a license that says so is not to be guessed at.
  const exists =
    !Number.isNaN(time.getTime()) &&
    time.toISOString().startsWith(text.slice(0, 'YYYY-MM-DDThh:mm:ss'.length));
  return exists ? time : undefined;
}
