// Suggests a known word for a misspelled one.

/** The minimum length of a word to look for as part of a known word: a shorter word would match too many. */
const MIN_PART_LENGTH = 3;

/**
 * Returns the nearest known word within one edit; else the only known word that ends with `word`
 * (`--metrics-port` for `--port`) or begins with it (`--web.config.file` for `--web.config`); else, for more than four
 * letters, the nearest word within two edits.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const words = [...known];
  const best =
    nearestWithin(1, word, words) ?? endingWith(word, words) ?? beginningWith(word, words);
  return best ?? (word.length > 4 ? nearestWithin(2, word, words) : undefined);
}

function nearestWithin(most: number, word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = most + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits >= least) continue;
    least = edits;
    best = candidate;
  }
  return best;
}

/** The only known word that ends with `word` after a separator such as `-`, `_`, `.` or `/`. */
function endingWith(word: string, known: readonly string[]): string | undefined {
  const end = word.replace(/^-+/, '').toLowerCase();
  if (end.length < MIN_PART_LENGTH) return undefined;
  return onlyOne(
    known,
    (candidate) =>
      candidate.toLowerCase().endsWith(end) && isSeparator(candidate.at(-end.length - 1)),
  );
}

/** The only known word that begins with `word` before a separator. */
function beginningWith(word: string, known: readonly string[]): string | undefined {
  const start = word.toLowerCase();
  if (start.replace(/^-+/, '').length < MIN_PART_LENGTH) return undefined;
  return onlyOne(
    known,
    (candidate) =>
      candidate.toLowerCase().startsWith(start) && isSeparator(candidate.at(start.length)),
  );
}

const isSeparator = (character = ''): boolean => /[^a-z0-9]/i.test(character);

/** The only known word with a property; undefined if none or several have it. */
function onlyOne(
  known: readonly string[],
  hasProperty: (candidate: string) => boolean,
): string | undefined {
  const [only, ...others] = new Set(known.filter(hasProperty));
  return others.length === 0 ? only : undefined;
}

/** Returns ` (did you mean "x"?)` if a known word is similar, else an empty text. */
export function hint(word: string, known: Iterable<string>): string {
  const near = nearest(word, known);
  return near === undefined ? '' : ` (did you mean ${JSON.stringify(near)}?)`;
}

/** The Damerau-Levenshtein distance: the number of inserts, deletes, replacements and swaps of neighbours. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column++) {
      const same = from[index] === to[column];
      const swapped = from[index] === to[column - 1] && from[index - 1] === to[column];
      next.push(
        Math.min(
          at(row, column) + (same ? 0 : 1),
          at(row, column + 1) + 1,
          at(next, column) + 1,
          swapped ? at(before, column - 1) + 1 : Infinity,
        ),
      );
    }
    before = row;
    row = next;
  }
  return at(row, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
