// Formats texts, times and counts for people, and escapes texts of publishers for pages and terminals.
import { nounFor } from '../pluralize.js';
import { nearest } from '../document/nearest.js';

/** Matches control, format and surrogate characters, and separators except the blank: they can change the display. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Matches visible words with single blanks between them, except a text that begins with a quote. */
const PLAIN = /^(?!")[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;

/** A sentence with its unsafe characters escaped. */
export const sentence = (text: string): string => text.replace(UNSAFE, codeUnits);

/** A text as a JSON string, with its unsafe characters escaped. */
export const quotedText = (text: string): string => sentence(JSON.stringify(text));

/** A name, in quotes unless it is plain. */
export const nameText = (name: string): string => (PLAIN.test(name) ? name : quotedText(name));

const codeUnits = (unsafe: string): string =>
  Array.from({ length: unsafe.length }, (_, i) => codeUnit(unsafe.charCodeAt(i))).join('');

const codeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

const MAX_NAMES = 20;

/**
 * The end of a sentence about a missing name: suggests the nearest existing name, and lists the existing names. A name
 * that shares a longer prefix with the missing name comes first.
 */
export function existingText(missing: string, names: readonly string[]): string {
  if (names.length === 0) return ' (there are none)';
  const near = nearest(missing, names);
  const guess = near === undefined ? '' : `, did you mean ${nameText(near)}?`;
  const more = names.length - MAX_NAMES;
  const rest = more > 0 ? ` and ${more} more` : '';
  const first = names
    .toSorted((a, b) => prefixLength(b, missing) - prefixLength(a, missing))
    .slice(0, MAX_NAMES);
  return `${guess} (there are: ${first.map(nameText).join(', ')}${rest})`;
}

/** The length of the common prefix of two texts. */
function prefixLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** The words of a search, in lower case. */
export const searchWords = (text: string): readonly string[] =>
  text.toLowerCase().split(/\s+/).filter(Boolean);

/** A duration in its two largest units, such as `3 d 4 h`. */
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

/** A time before now, such as `3 s ago`; `in the future` for a negative age. */
export const secondsAgoText = (seconds: number): string =>
  seconds < 0 ? ageText(seconds) : `${ageText(seconds)} ago`;

/** The age of a time, such as `3 s ago`; `in the future` for a time after now. */
export const agoText = (unixMs: number, nowMs: number): string =>
  secondsAgoText((nowMs - unixMs) / 1000);

/** A time such as `2026-01-05 08:00:00Z`; a number of milliseconds if the time is out of range for Date. */
export function timeText(unixMs: number): string {
  const time = new Date(unixMs);
  if (Number.isNaN(time.getTime())) return `${unixMs} ms`;
  return time.toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** A count with its noun, such as `1 object` or `1,234 objects`. */
export const countText = (count: number, noun: string, plural?: string): string =>
  `${grouped(count)} ${nounFor(count, noun, plural)}`;

export const grouped = (count: number): string => count.toLocaleString('en-US');
