// What there is, for somebody who looks for a name that there is not.
import { nearest } from '../document/nearest.js';
import { nameText } from './shown-text.js';

/** The most that a message names. */
const MAX_NAMES = 20;

/**
 * The end of a sentence on a missing name: the nearest of those that exist, and all of them, first
 * those that begin like it.
 */
export function existingText(missing: string, names: readonly string[]): string {
  if (names.length === 0) return ' (there is none)';
  const near = nearest(missing, names);
  const guess = near === undefined ? '' : `, did you mean ${nameText(near)}?`;
  const more = names.length - MAX_NAMES;
  const rest = more > 0 ? ` and ${more} more` : '';
  const first = names
    .toSorted((a, b) => sharedLength(b, missing) - sharedLength(a, missing))
    .slice(0, MAX_NAMES);
  return `${guess} (there are: ${first.map(nameText).join(', ')}${rest})`;
}

/** Characters with which both begin. */
function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
