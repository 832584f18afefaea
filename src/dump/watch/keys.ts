// The keys that move through a tree, as terminals send them.

/** How far a key moves, in lines and in whole screens; `end` ends the program. */
export type Key = { readonly lines: number; readonly screens: number } | 'start' | 'end';

const KEYS: Readonly<Record<string, Key>> = {
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

/** A key is all that a terminal sends for it, else one character. */
const TYPED = /\u001b[[O][0-9;]*[~A-Za-z]|[^]/g; // eslint-disable-line no-control-regex

/** The keys of what was typed; others are ignored. */
export const keysIn = (typed: string): readonly Key[] =>
  [...typed.matchAll(TYPED)].flatMap(([key]) => KEYS[key] ?? []);
