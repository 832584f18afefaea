// Compares the output that a page shows for a command with the real output.
import { expect } from 'chai';

/** Texts that differ between runs: times, durations and identifiers. */
const VARIES = [
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g,
  /\b\d+(?:\.\d+)? m?s\b/g,
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
];

/** Converts a line of a page, including its line feed, to a pattern. */
function patternOf(line: string): string {
  if (line === '…') return '(?:.*\\n)*?';
  const texts = line.split('…').map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return `${texts.join('.*')}\\n`;
}

export class PageOutput {
  readonly #lines: readonly string[];
  readonly #varies: readonly RegExp[];

  /**
   * @param lines the lines of the page. Within a line, `…` stands for any text. A line that is only `…`
   * stands for any number of lines.
   * @param varies more patterns of texts that differ between runs; they need the flag g
   */
  constructor(lines: readonly string[], varies: readonly RegExp[] = []) {
    this.#varies = [...varies, ...VARIES];
    this.#lines = lines.map((line) => this.#normalized(line).trimEnd());
  }

  /** Whether the page shows any output. */
  get isShown(): boolean {
    return this.#lines.length > 0;
  }

  /**
   * Whether the output contains each line that the page shows, in any order, since the order of log lines
   * varies.
   */
  isIn(output: string): boolean {
    const compared = this.#compared(output);
    return this.#lines.every((line) => new RegExp(`^${patternOf(line)}`, 'm').test(compared));
  }

  /** Fails and shows both texts if the output differs from the page. */
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
