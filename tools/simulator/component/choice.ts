// Choices that look random but are the same each time: derived from their subject.

/** A number from 0 to below `end`, the same for the same text. */
export function choice(about: string, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < about.length; at++)
    hash = Math.imul(hash ^ about.charCodeAt(at), 0x01000193);
  // FNV gives similar low bits to texts with the same end.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % end;
}

/** True for about one text in `one`. */
export const isChosen = (about: string, one: number): boolean => choice(about, one) === 0;
