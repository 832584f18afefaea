// Runs a program in a pseudo-terminal made by util-linux's `script`, and returns the content of the screen.
import type { Running, TestPrograms } from './processes.js';
import { waitFor } from './processes.js';

const ROWS = 24;
const COLUMNS = 80;
/** A control sequence, or one character. */
// eslint-disable-next-line no-control-regex
const TOKEN = /\u001b\[(\?)?([0-9;]*)([A-Za-z])|[^]/gu;

export class Terminal {
  readonly running: Running;
  readonly #rows: number;

  /** @param line a shell command that runs the program */
  constructor(programs: TestPrograms, line: string, { rows = ROWS } = {}) {
    this.#rows = rows;
    // `stty -g` prints the terminal's settings on a line of their own, before and after the program.
    const script = `stty cols ${COLUMNS} rows ${rows}; stty -g; ${line}; echo status=$?; stty -g`;
    const words = ['script', '-qec', `sh -c '${script}'`, '/dev/null'];
    this.running = programs.command(words, { stdin: 'pipe' });
  }

  type(keys: string): void {
    this.running.send(keys);
  }

  /** The output of the program so far. */
  get sent(): string {
    return this.running.stdout;
  }

  /** The terminal's settings, as each `stty -g` printed them. */
  get settings(): readonly string[] {
    return [...this.sent.matchAll(/^[0-9a-f:]{40,}(?=\r$)/gm)].map(([text]) => text);
  }

  get screen(): Screen {
    return screenOf(this.sent, this.#rows);
  }

  /** Waits until the screen satisfies a condition. */
  shows(what: string, fits: (screen: Screen) => boolean): Promise<Screen> {
    return waitFor(what, () => {
      const { screen } = this;
      return fits(screen) ? screen : undefined;
    });
  }
}

export interface Screen {
  readonly lines: readonly string[];
  /** Highlighted lines. */
  readonly bright: ReadonlySet<string>;
  /** Whether the alternate screen is active. */
  readonly isAlternate: boolean;
  readonly hasCursor: boolean;
  /** How often the program cleared the screen. Clearing makes it flicker. */
  readonly cleared: number;
}

/** Returns the screen after this output. It knows only the control sequences that the program sends. */
export function screenOf(sent: string, rows: number): Screen {
  const grid = Array.from({ length: rows }, () => ' '.repeat(COLUMNS));
  const bright = new Set<string>();
  const modes = new Map([['25', true]]);
  let [row, column, cleared] = [0, 0, 0];
  const put = (character: string) => {
    const line = grid[row] ?? '';
    const at = Math.min(column, COLUMNS - 1);
    grid[row] = line.slice(0, at) + character + line.slice(at + 1);
    column++;
  };
  for (const [token, priv, argument = '', command] of sent.matchAll(TOKEN)) {
    if (token === '\r') column = 0;
    else if (token === '\n') row = Math.min(row + 1, rows - 1);
    else if (command === undefined) put(token);
    else if (priv !== undefined) modes.set(argument, command === 'h');
    else if (command === 'H') [row, column] = [0, 0];
    else if (command === 'J') grid.fill(' '.repeat(COLUMNS), row);
    else if (command !== 'm') throw new Error(`An unknown sequence: ${JSON.stringify(token)}`);
    if (command === 'J' && row === 0) cleared++;
    if (command === 'm' && argument === '0') bright.add((grid[row] ?? '').trimEnd());
    if (command === 'H') bright.clear();
  }
  return {
    lines: grid.map((line) => line.trimEnd()),
    bright,
    isAlternate: modes.get('1049') === true,
    hasCursor: modes.get('25') === true,
    cleared,
  };
}
