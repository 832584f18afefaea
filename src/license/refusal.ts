// How a license is refused: one fault, one line.
import { Fault } from '../errors.js';

export const refusal = (sentence: string): Fault => new Fault('LICENSE_REJECTED', sentence);

/** A text of unknown origin for one line of a message: cut short, nothing for a terminal to obey. */
export function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  const escape = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(short).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escape);
}
