// The screen of a terminal: drawn without flicker, and given back as it was.

/** One line of a screen. */
export interface ScreenLine {
  readonly text: string;
  /** Whether it stands out. */
  readonly isBright: boolean;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const ESC = '\u001b[';
/** A screen of its own, without a cursor; long lines do not go on in the next. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
/** Terminals that know it show what is between at once. */
const [BEGIN, END] = [`${ESC}?2026h`, `${ESC}?2026l`];
const HOME = `${ESC}H`;
const [BRIGHT, PLAIN] = [`${ESC}1m`, `${ESC}0m`];
const CLEAR_REST = `${ESC}J`;

export class Screen {
  readonly #write: (text: string) => void;
  #isEntered = false;

  /** @param write writes at once */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Each line has the columns of the screen, so that nothing needs to be cleared before it is drawn. */
  draw(lines: readonly ScreenLine[], { rows }: ScreenSize): void {
    const drawn = lines
      .slice(0, rows)
      .map(({ text, isBright }) => (isBright ? `${BRIGHT}${text}${PLAIN}` : text));
    const enter = this.#isEntered ? '' : ENTER;
    this.#isEntered = true;
    const rest = drawn.length < rows ? `\r\n${CLEAR_REST}` : '';
    this.#write(`${enter}${BEGIN}${HOME}${drawn.join('\r\n')}${rest}${END}`);
  }

  /** Gives the terminal back. */
  leave(): void {
    if (this.#isEntered) this.#write(LEAVE);
    this.#isEntered = false;
  }
}
