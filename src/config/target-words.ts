// Splits a line of the legacy target file into words.
import { quoted } from '../document/document.js';

/** An error in a line, with its offset in the file. */
export class Misspelt extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

/** `target`, or a key with its value, without quotes and escapes. */
export interface Word {
  /** As the line spells it. */
  readonly whole: string;
  readonly key: string;
  readonly value: string | undefined;
  readonly keyAt: number;
  readonly valueAt: number;
}

/** A word is a run of characters, or one with = and a value, bare or in quotes. */
const WORD = /([^\s="#]+)(?:=("(?:[^"\\]|\\["\\])*"|[^\s"]*))?(?=\s|$)/y;

/**
 * The words of a line that begins at offset `lineAt` of its file, without its comment.
 * @throws Misspelt at the first invalid word
 */
export function wordsOf(line: string, lineAt: number): Word[] {
  const words: Word[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line.charAt(at))) at++;
    if (at >= line.length || line[at] === '#') return words;
    WORD.lastIndex = at;
    const match = WORD.exec(line);
    if (!match) throw new Misspelt(lineAt + at, misspelling(line.slice(at)));
    const [whole, key = '', value] = match;
    const valueAt = lineAt + at + key.length + 1;
    words.push({ whole, key, value: value && unquoted(value), keyAt: lineAt + at, valueAt });
    at += whole.length;
  }
}

const unquoted = (value: string) =>
  value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;

const misspelling = (rest: string) =>
  `found ${quoted(/^\S*/.exec(rest)?.[0] ?? '')}, allowed: key=value or key="value", with \\" and \\\\ inside quotes`;
