// Times and counts for people.
import { nounFor } from '../counted.js';

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
