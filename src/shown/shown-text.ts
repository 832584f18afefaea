// Texts, times and counts for people: what publishers write, made safe for a page and a terminal.
import { nounFor } from '../pluralize.js';
import { nearest } from '../document/nearest.js';

/**
 * Characters that act on a reader's screen or cannot be seen: control and format characters, those that
 * turn the direction of a text, separators but for the blank, halves of pairs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Words of what can be seen, with single blanks between them, that do not begin like a quoted text. */
const PLAIN = /^(?!")[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;

/** A sentence with such a text in it. */
export const sentence = (text: string): string => text.replace(UNSAFE, codeUnits);

/** In quotes, as JSON writes it. */
export const quotedText = (text: string): string => sentence(JSON.stringify(text));

/** A name as it is if it is plain, else in quotes. */
export const nameText = (name: string): string => (PLAIN.test(name) ? name : quotedText(name));

const codeUnits = (unsafe: string): string =>
  Array.from({ length: unsafe.length }, (_, i) => codeUnit(unsafe.charCodeAt(i))).join('');

const codeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

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

/** In lower case; each must be found. */
export const searchWords = (text: string): readonly string[] =>
  text.toLowerCase().split(/\s+/).filter(Boolean);

/** In the two largest units that fit, such as `3 d 4 h`. */
export function ageText(seconds: number): string {
  if (!(seconds >= 0)) return 'in the future';
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const whole = Math.floor(seconds);
  const at = units.findIndex(([, size]) => whole >= size);
  if (at < 0) return '0 s';
  let rest = whole;
  const parts = units.slice(at, at + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${grouped(count)} ${unit}`;
  });
  return parts.filter(Boolean).join(' ');
}

/** `3 s ago`; `in the future` for a moment that a clock of another machine states. */
export function agoText(unixMs: number, nowMs: number): string {
  const text = ageText((nowMs - unixMs) / 1000);
  return nowMs < unixMs ? text : `${text} ago`;
}

/** Such as `2026-01-05 08:00:00Z`; a time that no calendar has is a number. */
export function timeText(unixMs: number): string {
  const time = new Date(unixMs);
  if (Number.isNaN(time.getTime())) return `${unixMs} ms`;
  return time.toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** `1 object`, `1,234 objects`. */
export const countText = (count: number, noun: string, plural?: string): string =>
  `${grouped(count)} ${nounFor(count, noun, plural)}`;

export const grouped = (count: number): string => count.toLocaleString('en-US');
