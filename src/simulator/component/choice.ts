// Choices that look random and are the same each time: made by what they are about.

/** A number from 0 to below `end`, always the same for the same text. */
export function choice(about: string, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < about.length; at++)
    hash = Math.imul(hash ^ about.charCodeAt(at), 0x01000193);
  // FNV leaves its low bits alike for texts that end alike.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % end;
}

/** Whether this is one of about `one` in so many. */
export const isChosen = (about: string, one: number): boolean => choice(about, one) === 0;
