// A settings file: its raw values, their positions, and its problems.
import { Fault } from '../errors.js';

/** The path to a value inside a file, such as `['targets', 1, 'classes', 0]`. */
export type Path = readonly (string | number)[];

/** A date or time of a TOML file. No key accepts this type. */
export class TomlDate {
  constructor(readonly text: string) {}
}

const LONGEST = 60;

/** A path as a person writes it: `targets[1].classes[0]`. */
export function keyPath(path: Path): string {
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return `.${/^[\w-]{1,60}$/.test(part) ? part : quoted(part)}`;
  });
  return parts.join('').replace(/^\./, '');
}

/** A raw TOML value as it could appear in a file, or an argument; for other than scalars, only the name of its type. */
export function shown(raw: unknown): string {
  if (raw === undefined || raw === null) return 'nothing';
  if (typeof raw === 'string') return quoted(raw);
  if (typeof raw === 'bigint' || typeof raw === 'boolean') return shortened(String(raw));
  if (typeof raw === 'number') return float(raw);
  if (Array.isArray(raw)) return raw.length === 0 ? 'an empty array' : `an array of ${raw.length}`;
  if (typeof raw === 'symbol' || typeof raw === 'function') return `a ${typeof raw}`;
  return raw instanceof TomlDate ? `the date or time ${shortened(raw.text)}` : 'a table';
}

/** A text in quotes, cut to a readable length, with control and format characters escaped. */
export function quoted(text: string): string {
  const escape = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return JSON.stringify(shortened(text)).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escape);
}

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

function float(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(1) : String(value);
}

/** Offsets (in UTF-16 units) of a key and of its value. */
export interface Mark {
  readonly key: number;
  readonly value: number;
}

export type Marks = ReadonlyMap<string, Mark>;

/** The key of a path in `Marks`. */
export const markKey = (path: Path): string => JSON.stringify(path);

/** The indentation of the excerpt lines in a message. */
const INDENT = '  ';

/** The lines of a message without its excerpts, for outputs other than a terminal. */
export const withoutExcerpts = (message: string): readonly string[] =>
  message.split('\n').filter((line) => !line.startsWith(INDENT));

/** The text of a file, and the positions of its keys and values. */
export class SourcePositions {
  readonly #marksOf: () => Marks;
  #marks: Marks | undefined;

  /** @param marksOf called on first use: a file without problems never needs its marks */
  constructor(
    readonly file: string,
    readonly text: string,
    marksOf: () => Marks,
  ) {
    this.#marksOf = marksOf;
  }

  /** The offset of a path, or of its nearest parent; undefined if the file has neither. */
  offset(path: Path, part: keyof Mark): number | undefined {
    this.#marks ??= this.#marksOf();
    for (let depth = path.length; depth > 0; depth--) {
      const mark = this.#marks.get(markKey(path.slice(0, depth)));
      // Report a missing value at the key of its parent.
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

  line(offset: number): string {
    return this.text.slice(this.#lineStart(offset)).split('\n', 1)[0] ?? '';
  }

  /** Two lines: the line of an offset, cut near the offset, and a caret below the character at the offset. */
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

/** Counts code points, as editors do, instead of UTF-16 units. */
const characters = (text: string) => Array.from(text).length;

const caretAfter = (before: string) => `${' '.repeat(characters(before))}^`;

/** The raw values of a file, and the position of each. */
export interface SettingsDocument {
  readonly values: Readonly<Record<string, unknown>>;
  readonly places: SourcePositions;
}

export interface Problem {
  readonly offset: number;
  readonly text: string;
}

/** The maximum number of problems that one fault lists: thousands of problems usually have one cause. */
const MAX_SHOWN = 100;

/** The fault that lists the problems of a file, sorted by offset. */
export function invalid(places: SourcePositions, problems: readonly Problem[]): Fault {
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  const lines = sorted
    .slice(0, MAX_SHOWN)
    .map(({ offset, text }) => `${places.at(offset)}: ${text}`);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`${places.file}: and ${more} more problems`);
  return new Fault('CONFIG_INVALID', lines.join('\n'));
}
