// The position of each value of a file, so that a message can name line and column.
import type { Path } from './key-path.js';

/** Offsets (in UTF-16 units) of a key and of its value. */
export interface Mark {
  readonly key: number;
  readonly value: number;
}

export type Marks = ReadonlyMap<string, Mark>;

/** The key of a path in `Marks`. */
export const markOf = (path: Path): string => JSON.stringify(path);

/** What tells an excerpt from the sentences of a message. */
const INDENT = '  ';

/** The sentences of a message, one in each line: excerpts need a terminal. */
export const withoutExcerpts = (message: string): readonly string[] =>
  message.split('\n').filter((line) => !line.startsWith(INDENT));

export class Places {
  readonly #marksOf: () => Marks;
  #marks: Marks | undefined;

  /** `marksOf` runs on first use: a file without problems never needs it. */
  constructor(
    readonly file: string,
    readonly text: string,
    marksOf: () => Marks,
  ) {
    this.#marksOf = marksOf;
  }

  /** The offset of a path, or of its nearest parent; undefined if there is none. */
  offset(path: Path, part: keyof Mark): number | undefined {
    this.#marks ??= this.#marksOf();
    for (let depth = path.length; depth > 0; depth--) {
      const mark = this.#marks.get(markOf(path.slice(0, depth)));
      // A missing value is reported at the head of its parent.
      if (mark) return depth === path.length ? mark[part] : mark.key;
    }
    return undefined;
  }

  /** `file:line:column` of an offset; lines and columns count from 1, columns in characters. */
  at(offset: number): string {
    const start = this.#lineStart(offset);
    const line = this.text.slice(0, start).split('\n').length;
    return `${this.file}:${line}:${characters(this.text.slice(start, offset)) + 1}`;
  }

  /** Two lines: that of an offset, or the part near it, and a caret below the character. */
  excerpt(offset: number): string {
    const start = Math.max(this.#lineStart(offset), offset - 60);
    const lineEnd = this.text.indexOf('\n', offset);
    const end = Math.min(lineEnd < 0 ? this.text.length : lineEnd, offset + 40);
    const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
    const before = plain(this.text.slice(start, offset));
    const shown = `${before}${plain(this.text.slice(offset, end))}`.trimEnd();
    return `${INDENT}${shown}\n${INDENT}${caretAfter(before)}`;
  }

  #lineStart(offset: number): number {
    return offset === 0 ? 0 : this.text.lastIndexOf('\n', offset - 1) + 1;
  }
}

/** Counted as editors do: a character outside the basic plane is one. */
const characters = (text: string) => Array.from(text).length;

const caretAfter = (before: string) => `${' '.repeat(characters(before))}^`;
