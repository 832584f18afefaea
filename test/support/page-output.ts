// Compares the output that a page shows for a command with the real output.
import { expect } from 'chai';

/** Texts that differ between runs on every page: times, durations and identifiers. */
const VARIES = [
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g,
  /\b\d+(?:\.\d+)? m?s\b/g,
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
];

/** The pattern of a line of a page with its line feed. */
function patternOf(line: string): string {
  if (line === '…') return '(?:.*\\n)*?';
  const texts = line.split('…').map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return `${texts.join('.*')}\\n`;
}

export class PageOutput {
  readonly #lines: readonly string[];
  readonly #varies: readonly RegExp[];

  /**
   * @param lines of the page; `…` stands for anything within a line, or alone for any lines
   * @param varies further texts that differ between runs, with the flag g
   */
  constructor(lines: readonly string[], varies: readonly RegExp[] = []) {
    this.#varies = [...varies, ...VARIES];
    this.#lines = lines.map((line) => this.#normalized(line).trimEnd());
  }

  /** Whether the page shows any output. */
  get isShown(): boolean {
    return this.#lines.length > 0;
  }

  /** Whether the output has each line of the page, in any order: the order of a log varies. */
  isIn(output: string): boolean {
    const compared = this.#compared(output);
    return this.#lines.every((line) => new RegExp(`^${patternOf(line)}`, 'm').test(compared));
  }

  /** Fails with both texts if an output differs from the page. */
  check(output: string): void {
    const compared = this.#compared(output);
    const pattern = this.#lines.map(patternOf).join('');
    if (!new RegExp(`^${pattern}$`).test(compared))
      expect(compared).to.equal(this.#lines.map((line) => `${line}\n`).join(''));
  }

  #compared(output: string): string {
    const lines = this.#normalized(output).split('\n');
    return `${lines.map((line) => line.trimEnd()).join('\n')}\n`.replace(/\n+$/, '\n');
  }

  #normalized(text: string): string {
    return this.#varies.reduce((normalized, each) => normalized.replace(each, '<varies>'), text);
  }
}
