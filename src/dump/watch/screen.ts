// A terminal: its screen, its keys, and the widths of texts.
import type { Output } from '../../stdio/output.js';

export interface ScreenLine {
  readonly text: string;
  readonly isBold: boolean;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const ESC = '\u001b[';
/** Escape sequences: enter and leave the alternate screen, without cursor and line wrapping. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
/** Begin and end of synchronized output: a terminal that supports it shows the text between them at once. */
const [BEGIN, END] = [`${ESC}?2026h`, `${ESC}?2026l`];
const HOME = `${ESC}H`;
const [BOLD, PLAIN] = [`${ESC}1m`, `${ESC}0m`];
const CLEAR_REST = `${ESC}J`;

export class Screen {
  readonly #output: Pick<Output, 'isIdle' | 'write'>;
  readonly #onFailure: (error: unknown) => void;
  #isEntered = false;
  /** The newest text, which waits until the terminal has taken the previous one. */
  #waiting = '';

  /** @param onFailure called if the terminal cannot be written */
  constructor(output: Pick<Output, 'isIdle' | 'write'>, onFailure: (error: unknown) => void) {
    this.#output = output;
    this.#onFailure = onFailure;
  }

  /** Draws lines of the full screen width, so that they overwrite all old text. */
  draw(lines: readonly ScreenLine[], { rows }: ScreenSize): void {
    const drawn = lines
      .slice(0, rows)
      .map(({ text, isBold }) => (isBold ? `${BOLD}${text}${PLAIN}` : text));
    const enter = this.#isEntered ? '' : ENTER;
    this.#isEntered = true;
    const rest = drawn.length < rows ? `\r\n${CLEAR_REST}` : '';
    this.#show(`${enter}${BEGIN}${HOME}${drawn.join('\r\n')}${rest}${END}`);
  }

  leave(): void {
    if (this.#isEntered) this.#show(LEAVE);
    this.#isEntered = false;
  }

  #show(text: string): void {
    this.#waiting = text;
    if (this.#output.isIdle) this.#flush();
  }

  #flush(): void {
    const text = this.#waiting;
    this.#waiting = '';
    if (text === '') return;
    this.#output.write([Buffer.from(text)], (error) => {
      if (error === undefined) this.#flush();
      else this.#onFailure(error);
    });
  }
}

/** What a key does: scrolls by lines and screens, scrolls to the start, or ends the program. */
export type ViewCommand = { readonly lines: number; readonly screens: number } | 'start' | 'end';

const KEYS: Readonly<Record<string, ViewCommand>> = {
  '\u001b[A': { lines: -1, screens: 0 },
  '\u001bOA': { lines: -1, screens: 0 },
  k: { lines: -1, screens: 0 },
  '\u001b[B': { lines: 1, screens: 0 },
  '\u001bOB': { lines: 1, screens: 0 },
  j: { lines: 1, screens: 0 },
  '\u001b[5~': { lines: 0, screens: -1 },
  '\u001b[6~': { lines: 0, screens: 1 },
  ' ': { lines: 0, screens: 1 },
  '\u001b[H': 'start',
  '\u001bOH': 'start',
  '\u001b[1~': 'start',
  g: 'start',
  q: 'end',
  '\u0003': 'end',
  '\u0004': 'end',
};

/** Matches the escape sequence of a key, or any single character. */
const TYPED = /\u001b[[O][0-9;]*[~A-Za-z]|[^]/g; // eslint-disable-line no-control-regex

/** The commands of the known keys in the input of a terminal. */
export const commandsIn = (typed: string): readonly ViewCommand[] =>
  [...typed.matchAll(TYPED)].flatMap(([key]) => KEYS[key] ?? []);

/** Matches combining characters, which take no column. */
const NO_COLUMN = /\p{M}/u;
/** Matches most characters that take two columns: East Asian characters and emoji. */
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** The text in exactly `columns` columns: padded with blanks, or cut with an ellipsis. */
export function fittedText(text: string, columns: number): string {
  let fitting = '';
  let beforeSign = '';
  let used = 0;
  let usedBeforeSign = 0;
  for (const character of text) {
    const next = used + columnsOf(character);
    if (next > columns)
      return columns < 1 ? '' : `${beforeSign}…${' '.repeat(columns - 1 - usedBeforeSign)}`;
    fitting += character;
    used = next;
    if (next < columns) [beforeSign, usedBeforeSign] = [fitting, used];
  }
  return fitting + ' '.repeat(columns - used);
}

const columnsOf = (character: string): number =>
  NO_COLUMN.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;
