// Finds the parts of a line of text: its labels and its value.
import type { MessageWriter } from './message-writer.js';

/** Field numbers of the messages. */
const METRIC = { label: 1 };
const LABEL = { name: 1, value: 2 };

const [QUOTE, BACKSLASH, LINE_FEED, BLANK, EQUALS, BRACE] = [0x22, 0x5c, 0x0a, 0x20, 0x3d, 0x7b];

const MAX_COUNT = 2n ** 64n - 1n;

/** The positions of the parts of a line. One object serves all lines of a text. */
export class LineParts {
  readonly text: Uint8Array;
  readonly #buffer: Buffer;
  /** The position after the name of the family. */
  suffix = 0;
  /** The number of labels. */
  labels = 0;
  /** For each label: the start and end of its name, the start and end of its value, and the number of escapes. */
  readonly #labels: number[] = [];
  #value = 0;
  /** The position of the line feed. */
  end = -1;

  constructor(text: Uint8Array) {
    this.text = text;
    this.#buffer = Buffer.from(text.buffer, text.byteOffset, text.length);
  }

  /** Reads the next line; returns false at the end of the text. */
  next(familyBytes: number): boolean {
    const { text } = this;
    const start = this.end + 1;
    if (start >= text.length) return false;
    this.suffix = start + familyBytes;
    this.labels = 0;
    let at = this.suffix;
    while (at < text.length && text[at] !== BRACE && text[at] !== BLANK) at++;
    if (text[at] === BRACE) at = this.#scanLabels(at + 1);
    this.#value = at + 1;
    while (at < text.length && text[at] !== LINE_FEED) at++;
    this.end = at;
    return true;
  }

  /** Writes the first labels as fields of a metric. */
  writeLabels(count: number, out: MessageWriter): void {
    for (let i = 0; i < count; i++) {
      const at = i * 5;
      const [start = 0, end = 0] = [this.#labels[at], this.#labels[at + 1]];
      const [value = 0, valueEnd = 0] = [this.#labels[at + 2], this.#labels[at + 3]];
      const escapes = this.#labels[at + 4] ?? 0;
      const label = out.open(METRIC.label);
      out.slice(LABEL.name, this.text, start, end);
      if (escapes === 0) out.slice(LABEL.value, this.text, value, valueEnd);
      else out.unescaped(LABEL.value, this.text, value, valueEnd, escapes);
      out.close(label);
    }
  }

  /** The first labels as text, to compare them with those of other lines. */
  labelsKey(count: number): string {
    return count === 0 ? '' : this.#latin1(this.#labels[0], this.#labels[count * 5 - 2]);
  }

  /** The value of the last label as a number. */
  get lastLabel(): number {
    const at = this.labels * 5;
    return numberOf(this.#latin1(this.#labels[at - 3], this.#labels[at - 2]));
  }

  get value(): number {
    return numberOf(this.#latin1(this.#value, this.end));
  }

  /** The value as a count; undefined if it is none, since a row may show any number as a count. */
  get count(): bigint | undefined {
    const text = this.#latin1(this.#value, this.end);
    const count = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
    return count !== undefined && count <= MAX_COUNT ? count : undefined;
  }

  #latin1(start: number | undefined, end: number | undefined): string {
    return this.#buffer.toString('latin1', start, end);
  }

  /** Scans the labels from a position on; returns the position after the closing brace. */
  #scanLabels(start: number): number {
    const { text } = this;
    let at = start;
    for (let field = 0; at < text.length && text[at] !== BLANK; field += 5) {
      this.#labels[field] = at;
      while (at < text.length && text[at] !== EQUALS) at++;
      this.#labels[field + 1] = at;
      at += 2;
      this.#labels[field + 2] = at;
      let escapes = 0;
      for (; at < text.length && text[at] !== QUOTE; at++)
        if (text[at] === BACKSLASH) {
          escapes++;
          at++;
        }
      this.#labels[field + 3] = at;
      this.#labels[field + 4] = escapes;
      this.labels++;
      // After the quote is a comma, or the closing brace and a blank.
      at += 2;
    }
    return at;
  }
}

/** A number as the text formats write it. */
const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'));
